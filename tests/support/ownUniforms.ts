import {
  type Color,
  type Material,
  type Mesh,
  MeshDepthMaterial,
  MeshStandardMaterial,
  type WebGLProgramParametersWithUniforms,
} from 'three';
import type { SkinnedInstancedMesh } from './library.js';

/** What a character of the tests has in shaders that the test writes. */
export interface OwnValues {
  tint: Color;
  dirt: number;
  push: number;
}

/** How crowds, and meshes beside them, are drawn by shaders of the test that read what each has. */
export interface Own {
  /** The material of the crowd. */
  shared(): Material;
  /** Whatever else the crowd needs. */
  give(crowd: SkinnedInstancedMesh): void;
  /** The same for a mesh. */
  single(values: OwnValues): Material;
  giveSingle(mesh: Mesh, values: OwnValues): void;
}

/** In GLSL, by `onBeforeCompile`. */
export function createOwn(): Own {
  return {
    shared: () => hooked(new MeshStandardMaterial({ color: 0xbbaa88 }), null),
    give(crowd) {
      hooked(crowd.customDepthMaterial!, null);
    },
    single: (values) => hooked(new MeshStandardMaterial({ color: 0xbbaa88 }), values),
    giveSingle(mesh, values) {
      mesh.customDepthMaterial = hooked(new MeshDepthMaterial(), values);
    },
  };
}

function hooked<M extends Material>(material: M, values: OwnValues | null): M {
  const prefix = values === null ? 'instanceUniform_' : 'own_';
  material.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
    const declarations =
      values === null ? '' : 'uniform vec3 own_tint;\nuniform float own_dirt;\nuniform float own_push;\n';
    if (values !== null) {
      for (const [name, value] of Object.entries(values)) shader.uniforms[`own_${name}`] = { value };
    }
    shader.vertexShader =
      declarations +
      shader.vertexShader.replace(
        '#include <skinning_vertex>',
        `#include <skinning_vertex>\ntransformed *= 1.0 + ${prefix}push;`,
      );
    shader.fragmentShader =
      declarations +
      shader.fragmentShader.replace(
        '#include <map_fragment>',
        `#include <map_fragment>\ndiffuseColor.rgb = mix( diffuseColor.rgb, ${prefix}tint, ${prefix}dirt );`,
      );
  };
  material.customProgramCacheKey = () => prefix;
  return material;
}
