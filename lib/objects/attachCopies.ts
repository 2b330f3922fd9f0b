import type { Object3D } from 'three';

/** A mesh that others may be attached to. */
interface Owner extends Object3D {
  readonly attachments: readonly Object3D[];
}

/**
 * Attaches to a copy of a mesh the copies of what is attached to the mesh, which lie among its children.
 *
 * @param first Place of the copy of the mesh's first child among the children of the copy.
 */
export function attachCopies<M extends Owner>(source: Owner, target: M, first: number): void {
  for (const attachment of source.attachments) {
    const place = source.children.indexOf(attachment);
    const copy = place < 0 ? undefined : target.children[first + place];
    (copy as { attachTo?(owner: M): void } | undefined)?.attachTo?.(target);
  }
}
