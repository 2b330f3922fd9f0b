import { InstancedBufferAttribute, Object3D } from 'three';
import type { AttachedMesh } from '../crowd/CrowdMesh.js';

/** What a mesh has once it was let go of. */
const NO_INSTANCES = /*@__PURE__*/ new InstancedBufferAttribute(new Float32Array(0), 16);

const FOLLOWED = ['castShadow', 'receiveShadow', 'renderOrder', 'frustumCulled'] as const;

/** Has the meshes of a class drawn as their owners, until they are told otherwise. Call it before the constructor of three.js. */
export function followOwners({ prototype }: { readonly prototype: AttachedMesh }): void {
  if (Object.hasOwn(prototype, 'castShadow')) return;
  for (const key of FOLLOWED) {
    Object.defineProperty(prototype, key, {
      get(this: AttachedMesh) {
        if (key === 'receiveShadow' && this.fields?.isUnshaded) return false;
        return this.drawn?.[key] ?? this.owner?.[key];
      },
      set(this: AttachedMesh, value: never) {
        if (this.drawn !== undefined) this.drawn[key] = value;
      },
    });
  }
}

/** Makes a mesh the owner's child. */
export function attach(mesh: AttachedMesh): void {
  const { owner } = mesh;
  mesh.drawn = {};
  mesh.layers.mask = owner.layers.mask;
  follow(mesh);
  owner.attachments = [...owner.attachments, mesh];
  mesh.count = owner.count;
  owner.add(mesh);
}

/**
 * Lets go of a mesh, which shows no instances any more.
 *
 * @returns Whether it was attached.
 */
export function detach(mesh: AttachedMesh): boolean {
  const { owner, crowd } = mesh;
  if (!owner.attachments.includes(mesh)) return false;
  owner.attachments = owner.attachments.filter((other) => other !== mesh);
  crowd.members = crowd.members.filter((other) => other !== mesh);
  mesh.removeFromParent();
  mesh.count = 0;
  // The buffers of instances are the crowd's, and must not be freed with the mesh.
  Object.defineProperty(mesh, 'instanceMatrix', { value: NO_INSTANCES });
  return true;
}

/** Has a mesh, made for a copy of an owner, become a copy of the owner's own, with what hangs on that. */
export function copyAttached<M extends AttachedMesh>(mesh: M, source: M): M {
  Object3D.prototype.copy.call(mesh, source, false);
  follow(mesh);
  mesh.hiddenFrom = source.hiddenFrom;
  mesh.becomeCopy(source);
  return mesh;
}

/** What a clone has in the place of an attached mesh that was hung elsewhere than on its owner: an empty object. */
export const cloneEmpty = <M extends AttachedMesh>(mesh: M, recursive?: boolean): M =>
  Object3D.prototype.copy.call(new Object3D(), mesh, recursive) as M;

/** Lets a mesh be drawn as its owner, where it is drawn so now, until it is set. */
function follow(mesh: AttachedMesh): void {
  const { layers, owner, drawn = {} } = mesh;
  for (const key of FOLLOWED) if (drawn[key] === owner[key]) drawn[key] = undefined;
  let mask = layers.mask === owner.layers.mask ? null : layers.mask;
  Object.defineProperty(layers, 'mask', {
    configurable: true,
    enumerable: true,
    get: () => mask ?? owner.layers.mask,
    set: (value: number) => {
      mask = value;
    },
  });
}
