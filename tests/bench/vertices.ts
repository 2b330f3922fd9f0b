import { type Precision, SkinnedInstancedMesh } from 'skinned-instanced-mesh';
import { bakeVertexTexture } from 'skinned-instanced-mesh/vertex-textures';
import { type Material, Matrix4, type Mesh } from 'three';
import { type Contender, SIZE, type Source } from '../../demos/benchmark/contenders.js';
import { placeOf } from '../../demos/lib/plan.js';

/** Clips are long, and vertices many: what is measured is how they are read, for which a few clips do. */
const CLIPS = 3;

/** A crowd of the same mesh by a vertex texture. */
export function createVertices(
  { root, mesh, clips }: Source,
  count: number,
  precision: Precision,
): Contender {
  const others: Mesh[] = [];
  root.traverse((node) => {
    const other = node as Mesh;
    if (other.isMesh && other !== mesh && other.visible) others.push(other);
  });
  for (const other of others) other.visible = false;
  const played = clips.slice(0, CLIPS);
  const texture = bakeVertexTexture(root, played, { fps: 15, precision });
  for (const other of others) other.visible = true;

  const material = (mesh.material as Material).clone();
  const crowd = new SkinnedInstancedMesh(mesh.geometry, material, texture, count);
  const matrix = new Matrix4();
  for (let i = 0; i < count; i++) {
    crowd.setMatrixAt(i, placeOf(i, SIZE, matrix));
    crowd.play(i, i % played.length, { time: i % 7 });
  }
  return {
    object: crowd,
    update: (delta) => crowd.update(delta),
    dispose() {
      crowd.dispose();
      texture.dispose();
    },
  };
}
