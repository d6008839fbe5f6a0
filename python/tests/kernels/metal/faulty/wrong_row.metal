// Inside of the memory, but outside of the row.
o[id.x, id.y] = x[id.x + 1, id.y];
