import {
  DataTexture,
  FloatType,
  type InstancedBufferAttribute,
  type InstancedMesh,
  RGBAFormat,
  type WebGLRenderer,
} from 'three';
import { INSTANCES_PER_ROW } from '../../constants.js';
import type { InstanceTransforms } from '../../instances/InstanceTransforms.js';
import { MovedInstances } from '../../instances/MovedInstances.js';
import { allChanged } from '../../utils/attributes.js';
import type { PoseDirtyTracker } from '../PoseDirtyTracker.js';
import { keptOf, sendTexels } from './WebGLPosePass.js';

/** Texels of a matrix, and of a row of matrices. */
const SIZE = 4;
const WIDTH = INSTANCES_PER_ROW * SIZE;

/**
 * Matrices of instances as a texture, a texel for each column, which all meshes of a crowd read that are drawn by lists. They are sent
 * as they lie in `instanceMatrix`. As long as nobody draws by the attribute, renderers are kept from uploading that too.
 */
export class MatrixTexture {
  readonly texture: DataTexture;
  readonly attribute: InstancedBufferAttribute;

  /** Whether the renderer has old numbers in the buffer of the attribute, so that the texture has to be read. */
  private isStale = false;
  /** Whom the renderer has not got yet where they are. */
  private readonly unsent: MovedInstances;
  /** What the renderer keeps of the texture: another object after its context was lost, or it was disposed. */
  private kept: object | null = null;
  /** Who has moved since `takeMoved`. */
  private readonly moved: MovedInstances;
  /** Has renderers upload next to nothing of an attribute that has changed. */
  private readonly nothing = { start: 0, count: 1 };

  /** @param readsAttribute Whether a mesh will be drawn by the attribute. */
  constructor(
    private readonly transforms: InstanceTransforms,
    private readonly readsAttribute: (mesh: InstancedMesh) => boolean,
  ) {
    const { attribute } = transforms;
    this.attribute = attribute;
    this.unsent = new MovedInstances(attribute.count);
    this.moved = new MovedInstances(attribute.count);
    this.texture = new DataTexture(
      attribute.array as Float32Array<ArrayBuffer>,
      WIDTH,
      Math.ceil(attribute.count / INSTANCES_PER_ROW),
      RGBAFormat,
      FloatType,
    );
    // three.js sends none of it.
    this.texture.source.dataReady = false;
  }

  begin(): void {
    const { attribute, nothing } = this;
    const { updateRanges } = attribute;
    const at = updateRanges.indexOf(nothing);
    if (at < 0) return;
    // Other ranges may have become part of it.
    if (nothing.start === 0 && nothing.count === 1) updateRanges.splice(at, 1);
    else updateRanges[at] = { ...nothing };
  }

  follow(mesh: InstancedMesh): void {
    const { attribute, nothing, transforms } = this;
    if (attribute !== transforms.attribute) return;
    const { updateRanges } = attribute;
    const all = updateRanges.length === 0 || updateRanges[0].count === attribute.array.length;
    if (this.note() && all) this.isStale = this.kept !== null && !transforms.isBound;
    if (!this.isStale) return;
    if (transforms.shared || transforms.isBound || this.readsAttribute(mesh)) this.restore();
    else if (all) {
      nothing.start = 0;
      nothing.count = 1;
      updateRanges.length = 0;
      updateRanges.push(nothing);
    }
  }

  /**
   * Sends what has changed to a renderer. Call it in each draw.
   *
   * @param knowsLists Whether the shaders read the texture rather than the attribute.
   */
  update(renderer: WebGLRenderer, knowsLists: boolean): void {
    const { attribute, texture, unsent } = this;
    if (!knowsLists && this.isStale) this.restore();
    this.note();
    const kept = keptOf(renderer, texture);
    if (this.kept !== kept) {
      this.kept = kept;
      unsent.addAll();
    }
    if (unsent.isEmpty) return;
    const end = Math.min((unsent.last + 1) * 32, attribute.count);
    sendTexels(renderer, texture, unsent.first * 32 * SIZE, end * SIZE);
    unsent.clear();
  }

  /** Has a palette pose instances again that were moved. Call `update` before. */
  takeMoved(tracker: PoseDirtyTracker): void {
    if (this.moved.isEmpty) return;
    tracker.move(this.moved.bits);
    this.moved.clear();
  }

  dispose(): void {
    this.texture.dispose();
    this.kept = null;
  }

  /** Has renderers upload the attribute again. */
  private restore(): void {
    this.isStale = false;
    this.transforms.isBound = true;
    allChanged(this.attribute);
  }

  /** Takes down who has moved. */
  private note(): boolean {
    this.moved.note(this.attribute);
    return this.unsent.note(this.attribute);
  }
}
