# The mistake: the last vector of a row is loaded whole, and its end is cleared afterwards.
# expect: wrong every category but whole vectors
# expect: hint past its end
s|load_x(row, i, lanes_from(row, i))|vkeep(load_x(row, i, VLEN), lanes_from(row, i))|
