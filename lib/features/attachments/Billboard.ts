import { type BufferGeometry, Float32BufferAttribute, type Material, Vector3 } from 'three';
import { floatsOf } from '../../utils/geometries.js';
import { defineMotion } from '../motion/defineMotion.js';
import { InstanceMotions } from '../motion/InstanceMotions.js';
import { JointAttachment, type JointAttachmentOptions } from './JointAttachment.js';

/** Where a vertex is from the joint, to the right, up and towards the camera; as GLSL names it below. Its position is the joint. */
const CORNER = 'billboardCorner';

/** Turns vertices about the joint, whatever turns the instance; as large as the instance is scaled. */
const towardsCamera = /*@__PURE__*/ defineMotion({
  name: 'Billboard',
  maxOffset: 0,
  functions: 'attribute vec3 billboardCorner;',
  glsl: /* glsl */ `
    mat3 world = mat3( worldMatrix );
    vec3 size = vec3( length( world[ 0 ] ), length( world[ 1 ] ), length( world[ 2 ] ) );
    position += ( ( billboardCorner * size ) * mat3( viewMatrix ) ) * world / ( size * size );
    normal = ( vec3( 0.0, 0.0, 1.0 ) * mat3( viewMatrix ) ) * world;
`,
  tsl({ position, worldMatrix, viewMatrix, attribute, vec3 }) {
    type Vector = typeof position;
    const world = [0, 1, 2].map((column) => worldMatrix.element(column).xyz);
    const view = [0, 1, 2].map((column) => viewMatrix.element(column).xyz);
    const dots = ([x, y, z]: readonly Vector[], other: Vector) =>
      vec3(x.dot(other), y.dot(other), z.dot(other));
    const [x, y, z] = world;
    const size = vec3(x.length(), y.length(), z.length());
    const turned = dots(view, attribute(CORNER).mul(size));
    return {
      position: position.add(dots(world, turned).div(size.mul(size))),
      normal: dots(world, dots(view, vec3(0, 0, 1))),
    };
  },
});

/**
 * What is attached to a joint of every instance and faces the camera: health bars, names, markers. It is one draw call for all and
 * costs no JavaScript in a frame. The geometry's x is to the right of the picture, its y up. It is as large as the instance is scaled,
 * whatever the joint's own scale; of an `offset` the place counts. Shadows it casts only if `castShadow` is set, and rays go through.
 *
 * ```ts
 * const bars = new Billboard(crowd, 'head', new PlaneGeometry(0.8, 0.1).translate(0, 0.6, 0), material);
 * const parts = new InstanceParts(bars);
 * parts.setVisibleAt(3, 0, false);
 * ```
 *
 * @category Dress and attach
 */
export class Billboard extends JointAttachment {
  override readonly type: string = 'Billboard';
  /** For type testing. Copies are plain attachments, which face the camera likewise. */
  readonly isBillboard = true;

  /** As that of {@link JointAttachment}. */
  constructor(
    owner: JointAttachment['owner'],
    joint: string | number,
    geometry: BufferGeometry,
    material: Material | Material[],
    options?: JointAttachmentOptions,
  ) {
    const flat = geometry.clone();
    const corners = floatsOf(geometry.getAttribute('position'));
    flat.morphAttributes = {};
    flat.setAttribute(CORNER, corners);
    flat.setAttribute('position', new Float32BufferAttribute(new Float32Array(corners.count * 3), 3));
    super(owner, joint, flat, material, options);
    const corner = new Vector3();
    let maxOffset = 0;
    for (let i = 0; i < corners.count; i++)
      maxOffset = Math.max(maxOffset, corner.fromBufferAttribute(corners, i).length());
    new InstanceMotions(this, towardsCamera({}, { maxOffset }));
    this.castShadow = this.receiveShadow = false;
  }
}
