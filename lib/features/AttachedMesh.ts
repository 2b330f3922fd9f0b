import { InstancedBufferAttribute, type JSONMeta, Object3D } from 'three';
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
  crowd.remove(mesh);
  mesh.removeFromParent();
  mesh.count = 0;
  // The buffers of instances are the crowd's, and must not be freed with the mesh.
  Object.defineProperty(mesh, 'instanceMatrix', { value: NO_INSTANCES });
  return true;
}

/** Stands for an attached mesh among the children of a copy of its owner, until the copy makes its own there. */
export class AttachedCopy<M extends AttachedMesh = AttachedMesh> extends Object3D {
  constructor(
    readonly source: M,
    recursive?: boolean,
  ) {
    super();
    super.copy(source, recursive);
  }

  override clone(recursive?: boolean): this {
    const Class = this.constructor as new (source: M, recursive?: boolean) => this;
    return new Class(this.source, recursive);
  }

  override toJSON(meta?: JSONMeta): ReturnType<Object3D['toJSON']> {
    return this.source.toJSON(meta);
  }

  /** Has a mesh take its place among the children of the copy. */
  replaceBy(mesh: M): void {
    const { parent } = this;
    Object3D.prototype.copy.call(mesh, this, false);
    follow(mesh);
    if (this.children.length > 0) mesh.add(...this.children);
    const { children } = parent as Object3D;
    children.splice(children.indexOf(mesh), 1);
    children[children.indexOf(this)] = mesh;
    this.parent = null;
  }
}

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
