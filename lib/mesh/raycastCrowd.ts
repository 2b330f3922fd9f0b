import type { Box3, Intersection, Raycaster } from 'three';
import { BufferAttribute, BufferGeometry, Matrix4, Mesh, Ray, Sphere, Vector3 } from 'three';
import type { SkinnedInstancedMesh } from './SkinnedInstancedMesh.js';

const _sphere = /*@__PURE__*/ new Sphere();
const _world = /*@__PURE__*/ new Matrix4();
const _inverse = /*@__PURE__*/ new Matrix4();
const _ray = /*@__PURE__*/ new Ray();
const _vertex = /*@__PURE__*/ new Vector3();
const _hits: Intersection[] = [];

/**
 * Intersects a crowd as it is posed on screen: the box of all poses first, then the triangles of the instances whose
 * box the ray meets, skinned on the CPU.
 */
export function raycastCrowd(
  crowd: SkinnedInstancedMesh,
  raycaster: Raycaster,
  intersects: Intersection[],
  poseBounds: Box3,
): void {
  const { geometry, material, matrixWorld, count } = crowd;
  if (material === undefined) return;
  if (crowd.boundingSphere === null) crowd.computeBoundingSphere();
  _sphere.copy(crowd.boundingSphere as Sphere).applyMatrix4(matrixWorld);
  if (!raycaster.ray.intersectsSphere(_sphere)) return;

  let posed: Mesh | null = null;

  for (let index = 0; index < count; index++) {
    crowd.getMatrixAt(index, _world);
    _world.premultiply(matrixWorld);
    _ray.copy(raycaster.ray).applyMatrix4(_inverse.copy(_world).invert());
    if (!_ray.intersectsBox(poseBounds)) continue;

    posed ??= createPosed(geometry, material);
    const position = posed.geometry.getAttribute('position') as BufferAttribute;
    for (let vertex = 0; vertex < position.count; vertex++) {
      crowd.getVertexPositionAt(index, vertex, _vertex);
      position.setXYZ(vertex, _vertex.x, _vertex.y, _vertex.z);
    }
    posed.matrixWorld.copy(matrixWorld);
    posed.geometry.boundingSphere = null;
    posed.raycast(raycaster, _hits);

    for (const hit of _hits) {
      hit.instanceId = index;
      hit.object = crowd;
      intersects.push(hit);
    }
    _hits.length = 0;
  }
}

/** A mesh over the crowd's own index, groups and uvs, with positions to be filled in per instance. */
function createPosed(source: BufferGeometry, material: Mesh['material']): Mesh {
  const geometry = new BufferGeometry();
  for (const name of ['uv', 'uv1']) {
    if (source.hasAttribute(name)) geometry.setAttribute(name, source.getAttribute(name));
  }
  geometry.setAttribute(
    'position',
    new BufferAttribute(new Float32Array(source.getAttribute('position').count * 3), 3),
  );
  geometry.setIndex(source.index);
  geometry.groups = source.groups;
  geometry.drawRange = source.drawRange;
  return new Mesh(geometry, material);
}
