import { ShaderLib } from 'three';
import { expect, test } from 'vitest';
import { mergedFragmentGLSL } from '../../../shaders/mergedSurface.glsl.js';

/** What becomes of code that stands before a fragment shader. */
function merged(code: string): string {
  const shader = mergedFragmentGLSL(`${code}\n${ShaderLib.standard.fragmentShader}`, 0, () => {});
  return shader.slice(shader.indexOf('//'), shader.indexOf('#define STANDARD')).trim();
}

test('code of the user samples merged textures, with a bias too', () => {
  expect(merged('//\nvec4 a() { return texture2D( map, vMapUv, -1.0 ) + texture(aoMap,vAoMapUv); }')).toBe(
    '//\nvec4 a() { return merged_map( vMapUv, -1.0 ) + merged_aoMap(vAoMapUv); }',
  );
});

test('a function that has a parameter of the name of a texture samples what it is given', () => {
  const helper =
    'vec4 triplanar( vec2 uv, const highp sampler2D map ) { if ( uv.x > 0.0 ) { uv = - uv; } return texture2D( map, uv ); }';
  expect(merged(`//\n${helper}`)).toBe(`//\n${helper}`);
  expect(
    merged(
      `//\nvec4 a() { return texture2D( map, b ); }\n${helper}\nvec4 c() { return texture2D( map, d ); }`,
    ),
  ).toBe(`//\nvec4 a() { return merged_map( b ); }\n${helper}\nvec4 c() { return merged_map( d ); }`);
});
