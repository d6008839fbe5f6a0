bfloat v = x[id];
bfloat2 pair = bfloat2(v, 2.0bf);
float wide = float(pair.x) * pair.y + 1.0f;
o[id] = bfloat(max(wide, 0.0f)) + numeric_limits<bfloat>::epsilon();
