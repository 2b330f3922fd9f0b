import { Float32BufferAttribute, type Mesh } from 'three';
import { random } from './random.js';

/** Gives a mesh morph targets with these names, each moving its vertices by chance. */
export function addTargets(mesh: Mesh, names: readonly string[], relative: boolean, seed: number): void {
  const next = random(seed);
  const { geometry } = mesh;
  const targets = (name: 'position' | 'normal', size: number) =>
    names.map((target) => {
      const base = geometry.getAttribute(name);
      const morph = new Float32BufferAttribute(new Float32Array(base.count * 3), 3);
      for (let i = 0; i < base.count; i++) {
        for (let k = 0; k < 3; k++) {
          morph.setComponent(i, k, (next() - 0.5) * size + (relative ? 0 : base.getComponent(i, k)));
        }
      }
      morph.name = target;
      return morph;
    });
  geometry.morphAttributes.position = targets('position', 0.3);
  geometry.morphAttributes.normal = targets('normal', 1);
  geometry.morphTargetsRelative = relative;
  mesh.updateMorphTargets();
}
