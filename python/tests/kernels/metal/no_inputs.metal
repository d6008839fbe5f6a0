o[id.x, id.y] = ushort(id.x * 10 + id.y);
