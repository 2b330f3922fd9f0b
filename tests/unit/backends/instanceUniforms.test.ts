import {
  Color,
  DataArrayTexture,
  type Material,
  type MeshDepthMaterial,
  MeshStandardMaterial,
  ShaderLib,
  type WebGLProgramParametersWithUniforms,
  type WebGLRenderer,
} from 'three';
import { expect, test, vi } from 'vitest';
import { SkinnedInstancedMesh } from '../../support/library.js';
import { createStick } from '../../support/stick.js';

function createCrowd(material: Material, uniforms = {}): SkinnedInstancedMesh {
  const { root, clips } = createStick();
  const crowd = SkinnedInstancedMesh.from(root, clips, 2, { uniforms });
  crowd.material = material;
  return crowd;
}

/** What a material makes of its class's shaders for crowds. */
function compile(material: Material, name: 'standard' | 'depth' | 'normal' = 'standard') {
  const { vertexShader, fragmentShader } = ShaderLib[name];
  const shader = { vertexShader, fragmentShader, uniforms: {}, instancing: true, skinning: true };
  material.onBeforeCompile(
    shader as unknown as WebGLProgramParametersWithUniforms,
    null as unknown as WebGLRenderer,
  );
  return shader;
}

test('a crowd that has nothing of its own pays nothing', () => {
  const material = new MeshStandardMaterial();
  const crowd = createCrowd(material);
  const { vertexShader, fragmentShader, uniforms } = compile(material);
  expect(uniforms).toEqual({});
  expect(vertexShader).not.toContain('nstanceUniform');
  expect(fragmentShader).toBe(ShaderLib.standard.fragmentShader);
  const key = material.customProgramCacheKey();
  crowd.setOpacityAt(0, 1);
  expect(material.customProgramCacheKey()).not.toBe(key);
  const with1 = compile(material);
  expect(with1.vertexShader.match(/texelFetch\( CROWD_UNIFORMS/g)).toHaveLength(1);
  expect(with1.fragmentShader).toContain('diffuseColor.a *= instanceUniform_opacity;');
  expect(with1.fragmentShader).not.toContain('Radiance += instance');
});

test('shadow maps read opacity where they hash it, and nothing else', () => {
  const crowd = createCrowd(new MeshStandardMaterial({ transparent: true }));
  crowd.setOpacityAt(0, 0.5).setEmissiveAt(0, new Color()).setRoughnessAt(0, 1);
  const { fragmentShader } = compile(crowd.customDepthMaterial as MeshDepthMaterial, 'depth');
  expect(fragmentShader).toMatch(
    /#ifdef USE_ALPHAHASH\s+diffuseColor\.a \*= instanceUniform_opacity;\s+#endif/,
  );
  expect(fragmentShader).not.toContain('totalEmissiveRadiance');
});

test('a material whose map becomes a texture array is compiled anew, also that of shadows', () => {
  const material = new MeshStandardMaterial();
  const crowd = createCrowd(material);
  const depth = crowd.customDepthMaterial as MeshDepthMaterial;
  const keys = [material, depth].map((one) => one.customProgramCacheKey());
  const versions = [material.version, depth.version];
  const map = new DataArrayTexture(new Uint8Array(8), 1, 1, 2);
  // As three.js does it before it draws a shadow map.
  material.map = depth.map = map;
  crowd.prepareDraw();
  for (const [i, one] of [material, depth].entries()) {
    expect(one.customProgramCacheKey()).not.toBe(keys[i]);
    expect(one.version).toBeGreaterThan(versions[i]);
  }
  expect(compile(material).fragmentShader).toContain('texture( map, vec3( vMapUv, 0.0 ) )');
  crowd.setMapLayerAt(0, 1);
  expect(compile(depth, 'depth').fragmentShader).toContain(
    'texture( map, vec3( vMapUv, instanceUniform_mapLayer ) )',
  );
});

test('crowds that share a material share its shaders, unless a name means two things', () => {
  const material = new MeshStandardMaterial();
  const crowd = createCrowd(material, { dirt: 'float', at: 'vec2' });
  createCrowd(material, { glow: 'color' });
  createCrowd(material);
  const { vertexShader } = compile(material);
  expect(vertexShader.match(/#define instanceUniform_\w+/g)).toEqual([
    '#define instanceUniform_glow',
    '#define instanceUniform_at',
    '#define instanceUniform_dirt',
  ]);
  createCrowd(material, { dirt: 'vec3' });
  expect(() => compile(material)).toThrow(
    'crowds that share a material have a uniform "dirt" each, one a float, the other a vec3; declare both alike, or clone the material.',
  );
  expect(crowd.capacity).toBe(2);
});

test('what a hook of the user takes the place for is said once, unless the hook reads it', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const warnings = () => warn.mock.calls.splice(0).map(([text]) => /does not show (\w+)/.exec(text)?.[1]);
  const material = new MeshStandardMaterial({ name: 'hooked', transparent: true });
  let code = '';
  material.onBeforeCompile = (shader) => {
    for (const chunk of ['emissivemap_fragment', 'roughnessmap_fragment']) {
      shader.fragmentShader = shader.fragmentShader.replace(`#include <${chunk}>`, code);
    }
  };
  const crowd = createCrowd(material);
  crowd.setOpacityAt(0, 0.5);
  compile(material);
  expect(warnings()).toEqual([]);
  crowd.setEmissiveAt(0, new Color()).setRoughnessAt(0, 1).setMetalnessAt(0, 1);
  code = 'totalEmissiveRadiance += instanceUniform_emissive; float r = instanceUniform_roughness;';
  compile(material);
  expect(warnings()).toEqual([]);
  code = '';
  compile(material);
  compile(material);
  expect(warnings()).toEqual(['roughness', 'emissive']);
  warn.mockRestore();
});
