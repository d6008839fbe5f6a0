float3x3 m = float3x3(float3(1, 2, 3), float3(0, 1, 4), float3(5, 6, 0));
float3 v = float3(x[0, id], x[1, id], x[2, id]);
float3 a = m * v, b = v * m, c = transpose(m) * v;
matrix<float, 2, 3> n(1, 2, 3, 4, 5, 6);
float2 d = v * n;
o[0, id] = dot(a, b) + all(b == c) + d.x + d.y;
o[1, id] = determinant(m) + (m * m)[1][2] + length(v) + distance(a, b);
