import { instanceUniform } from 'skinned-instanced-mesh/webgpu';
import { Color } from 'three';
import { float, mix, positionLocal, uniform, vec3 } from 'three/tsl';
import { MeshStandardNodeMaterial, type Node } from 'three/webgpu';
import type { Own, OwnValues } from './ownUniforms.js';

const BASE = /*@__PURE__*/ new Color(0xbbaa88);

/** Twin of `ownUniforms.ts`. */
export function createOwn(): Own {
  return {
    shared: () =>
      material(
        instanceUniform('tint', 'color'),
        instanceUniform('dirt', 'float'),
        instanceUniform('push', 'float'),
      ),
    give() {},
    single: ({ tint, dirt, push }: OwnValues) =>
      material(vec3(tint.r, tint.g, tint.b), uniform(dirt), uniform(push)),
    giveSingle() {},
  };
}

function material(tint: Node<'vec3'>, dirt: Node<'float'>, push: Node<'float'>): MeshStandardNodeMaterial {
  const made = new MeshStandardNodeMaterial();
  made.colorNode = mix(vec3(BASE.r, BASE.g, BASE.b), tint, dirt);
  made.positionNode = positionLocal.mul(push.add(1));
  return made;
}

/** A material with emission and opacity of its own as nodes, and what an instance has on top of them. */
export function createNodes(emissive: Color | null, opacity: number | null): MeshStandardNodeMaterial {
  const made = new MeshStandardNodeMaterial({ color: 0xbbaa88, transparent: true });
  const stripes = positionLocal.y.mul(8).fract();
  const glow = vec3(stripes.mul(0.3), 0, 0);
  made.emissiveNode = emissive === null ? glow : glow.add(vec3(emissive.r, emissive.g, emissive.b));
  made.opacityNode = stripes
    .mul(0.5)
    .add(0.5)
    .mul(float(opacity ?? 1));
  return made;
}
