import type { BufferGeometry, InstancedBufferAttribute, Material } from 'three';
import { createCrowdGeometry } from '../character/crowdGeometry.js';
import type { DrawnCrowd } from '../core/Crowd.js';
import type { CrowdSkeleton } from '../core/CrowdSkeleton.js';
import { whiteColors } from '../instances/InstanceColors.js';
import { describe } from '../utils/messages.js';

/** What the accessors stand for. */
export interface MeshFields {
  geometry: BufferGeometry;
  material: Material | Material[];
  count: number;
  receiveShadow: boolean;
  /** Whether a part of the geometry is being drawn that receives no shadow. */
  isUnshaded?: boolean;
  /** Of the geometry, while a part is being drawn that has none. */
  tangents?: BufferGeometry['attributes'][string];
  /** Whether it would be drawn into a shadow map to which it casts nothing. */
  isLeftOut?: boolean;
  /** Null until the mesh is made. */
  skeleton: CrowdSkeleton | null;
}

/** The mesh that has them. */
type FieldMesh = DrawnCrowd & {
  fields: MeshFields | undefined;
  readonly attachments: readonly { count: number }[];
  geometryReplaced(source: BufferGeometry): void;
};

/** Undefined as long as three.js's own constructors run. */
type Unmade = Partial<Pick<FieldMesh, 'crowd' | 'colors' | 'fields'>>;

const fieldsOf = (mesh: FieldMesh): MeshFields => {
  mesh.fields ??= { count: 0, skeleton: null } as unknown as MeshFields;
  return mesh.fields;
};

/** An accessor that keeps a value, and once the mesh is made calls `set` instead. */
function field<K extends 'geometry' | 'material' | 'count' | 'receiveShadow'>(
  key: K,
  set: (mesh: FieldMesh, fields: MeshFields, value: MeshFields[K]) => void,
  get = function (this: FieldMesh): unknown {
    return this.fields?.[key];
  },
): PropertyDescriptor & ThisType<FieldMesh> {
  return {
    enumerable: true,
    configurable: true,
    get,
    set(value: MeshFields[K]) {
      const fields = fieldsOf(this);
      if (fields.skeleton === null) fields[key] = value;
      else set(this, fields, value);
    },
  };
}

/**
 * Accessors of what three.js keeps as plain fields: so that what is assigned takes effect, and what would draw garbage is an
 * error. They belong to the prototype: an object whose own fields become accessors is a dictionary to engines, which then
 * search for each of its properties whenever it is read.
 */
export const ACCESSORS: PropertyDescriptorMap & ThisType<FieldMesh> = {
  geometry: field('geometry', (mesh, fields, value) => {
    if (value === fields.geometry) return;
    const made = createCrowdGeometry(value, mesh.crowd, mesh.influences);
    fields.geometry.dispose();
    fields.geometry = made;
    mesh.geometryReplaced(value);
  }),
  material: field('material', (mesh, fields, value) => {
    fields.material = value;
    mesh.prepareDraw();
  }),
  count: field(
    'count',
    (mesh, fields, value) => {
      if (!(Number.isInteger(value) && value >= 0 && value <= mesh.capacity)) {
        throw new Error(
          `The count is ${describe(value)}; use a whole number from 0 to ${mesh.capacity}, or call setCapacity(n) first.`,
        );
      }
      fields.count = value;
      mesh.crowd.countChanged(mesh, value);
      for (const attachment of mesh.attachments) attachment.count = value;
    },
    // In the middle of a draw, of how many that draws.
    function () {
      const { fields } = this;
      return fields?.isLeftOut ? 0 : (fields?.skeleton?.drawnCount ?? fields?.count);
    },
  ),
  receiveShadow: field(
    'receiveShadow',
    (_mesh, fields, value) => {
      fields.receiveShadow = value;
    },
    function () {
      return this.fields?.receiveShadow === true && this.fields.isUnshaded !== true;
    },
  ),
  instanceMatrix: {
    enumerable: true,
    get() {
      return (this as Unmade).crowd?.places.attribute;
    },
    set(value: InstancedBufferAttribute) {
      const { crowd } = this as Unmade;
      if (crowd === undefined) return;
      if (value?.count !== crowd.capacity) {
        throw new Error(
          `The instanceMatrix is for ${value?.count} instances, and the crowd has room for ${crowd.capacity}; call setCapacity(n) first.`,
        );
      }
      crowd.places.attribute = value;
    },
  },
  instanceColor: {
    enumerable: true,
    configurable: true,
    get() {
      return (this as Unmade).colors?.attribute ?? null;
    },
    set(value: InstancedBufferAttribute | null) {
      const { colors } = this as Unmade;
      // Without it the colours of parts would not be drawn.
      if (colors !== undefined)
        colors.attribute = value ?? (this.instanceParts?.isColored ? whiteColors(this.capacity) : null);
    },
  },
  skeleton: {
    enumerable: true,
    get() {
      return (this as Unmade).fields?.skeleton;
    },
    // `SkeletonUtils.clone` would give a clone that of its source.
    set() {},
  },
};
