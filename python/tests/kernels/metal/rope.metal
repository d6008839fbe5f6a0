// x is [heads, positions, 2 * pairs]; id is (pair, position, head).
float theta = float(id.y) * pow(10000.0f, -float(id.x) / pairs);
float c;
float s = sincos(theta, c);
float2x2 rotation = float2x2(float2(c, s), float2(-s, c));
float2 v = float2(x[2 * id.x, id.y, id.z], x[2 * id.x + 1, id.y, id.z]);
float2 r = rotation * v;
o[2 * id.x, id.y, id.z] = r.x;
o[2 * id.x + 1, id.y, id.z] = r[1];
