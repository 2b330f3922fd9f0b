import type { BufferAttribute, Camera, InterleavedBufferAttribute, Material, Object3D } from 'three';
import { fract, int } from 'three/tsl';
import type { Node } from 'three/webgpu';
import { drawParameter } from '../../../shaders/drawSlots.tsl.js';
import { noNumbers, numberAt } from '../../../shaders/instanceIndex.tsl.js';
import { layeredOf, type TexelNode, texels } from '../../../shaders/TexelNode.js';
import { buildOf, type DrawFrame, onceABuild } from '../../../shaders/tsl.js';
import { FADE_CODES, FIRST_LISTED, PARAM_LISTED, PARAM_LOOKS_UP } from '../../constants.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { goesByInstanceLayers, warnNotCulled } from '../../core/drawnCrowds.js';
import type { CameraView } from '../../culling/CrowdViews.js';
import type { View } from '../../culling/InstanceList.js';
import type { ViewInfo } from '../../culling/ViewInfo.js';
import type { InstanceTexture } from '../../instances/InstanceTexture.js';
import { isOfVertices } from '../../utils/geometries.js';
import type { PaletteRows } from '../PaletteRows.js';
import type { WebGPUPoses } from './WebGPUPoses.js';

/** The list that a build reads its instances from: another one in each draw. What gives numbers builds on the current stack. */
export interface DrawnList {
  /** Whether entries are rows of a palette, and `others` the instances of these; else it is the other way round. */
  readonly listsRows: boolean;
  readonly others: TexelNode;
  /** The entry at a place of the list. */
  entry(drawn: Node<'int'>): Node<'int'>;
  /** Which pixels are drawn of the instance at a place of the list, see `FADE_STEPS`. */
  fade(drawn: Node<'int'>): Node<'int'>;
  /**
   * Has the draw that comes next show what its camera sees. Call it right before, see `OnObjectUpdate`.
   *
   * @param rows Those of the palette of the crowd; null if it has none.
   * @param all Whether it shows all instances, in their order.
   */
  show(crowd: DrawnCrowd, frame: DrawFrame, rows: PaletteRows | null, all: boolean): void;
}

/** Null as long as nothing on the page needs them. */
let gpuLists: {
  /** Whether a renderer makes the lists of a crowd. */
  isUsed(renderer: object, crowd: DrawnCrowd): boolean;
  of(
    renderer: object,
    crowd: DrawnCrowd,
  ): {
    /**
     * Has a list for the camera computed before a draw.
     *
     * @param lodCamera The one that decides on levels of detail.
     * @param group The part of the geometry that is drawn; null for all of it.
     * @param poses What poses whom the list shows; null if that is done already.
     */
    prepare(
      crowd: DrawnCrowd,
      camera: Camera,
      lodCamera: Camera,
      material: Material,
      group: { start: number; count: number } | null,
      poses: WebGPUPoses | null,
    ): void;
    /** What a camera saw when it last drew the crowd. */
    read(crowd: DrawnCrowd, camera: Camera): Promise<ViewInfo>;
  };
  createList(fades: boolean): DrawnList;
} | null = null;

export function registerGPULists(lists: NonNullable<typeof gpuLists>): void {
  gpuLists = lists;
}

/** What a renderer's cameras see of a crowd; null where the CPU makes the lists. */
export const listsOnGPU = (renderer: object, crowd: DrawnCrowd) =>
  gpuLists?.isUsed(renderer, crowd) ? gpuLists.of(renderer, crowd) : null;

/** For each renderer the camera whose picture it draws: it decides on levels of detail in shadow maps too. */
const viewers = /*@__PURE__*/ new WeakMap<object, Camera>();

/** The camera that decides on levels of detail where another one, or the same, draws. */
export function lodCameraOf(renderer: object, camera: Camera, isShadowMap: boolean): Camera {
  const last = viewers.get(renderer);
  if (isShadowMap) return last ?? camera;
  if (last !== camera) viewers.set(renderer, camera);
  return camera;
}

/** What a camera sees of a crowd. */
export function seenBy(
  renderer: object,
  crowd: DrawnCrowd,
  camera: Camera,
  isShadowMap: boolean,
): CameraView {
  const { frame } = (renderer as { info: { frame: number } }).info;
  const lodCamera = lodCameraOf(renderer, camera, isShadowMap);
  const { views, matrixWorld } = crowd;
  return views.of(camera, matrixWorld, frame, lodCamera, isShadowMap, goesByInstanceLayers(crowd));
}

/** Whether three.js records the draws of an object once, and with them how many instances they are of. */
export const isInBundle = ({ parent }: Object3D): boolean =>
  parent !== null && ((parent as { isBundleGroup?: boolean }).isBundleGroup === true || isInBundle(parent));

/** Whether nobody is left out, or drawn otherwise, but who is outside of a camera's frustum. */
export const showsEveryone = ({ views, visibility }: DrawnCrowd): boolean =>
  visibility.allDrawn && views.splitter?.isUsed !== true && views.kinds === null && !views.isStaged;

/** Reads the list of a view, which the CPU has made. */
class CameraList implements DrawnList {
  readonly listsRows = true;
  readonly others = texels(noNumbers('rows'));
  private readonly list = texels(noNumbers('list'));

  entry(drawn: Node<'int'>): Node<'int'> {
    return int(this.numberOf(drawn));
  }

  fade(drawn: Node<'int'>): Node<'int'> {
    return int(fract(this.numberOf(drawn)).mul(FADE_CODES));
  }

  private numberOf(drawn: Node<'int'>): Node<'float'> {
    const first = int(drawParameter(PARAM_LISTED)).sub(FIRST_LISTED);
    return numberAt(this.list, drawn.add(first).toVar());
  }

  show(crowd: DrawnCrowd, frame: DrawFrame, rows: PaletteRows | null, all: boolean): void {
    const { views, visibility, matrixWorld, list, skeleton } = crowd;
    const { camera, material } = frame;
    const renderer = frame.renderer as object;
    if (all || skeleton.drawn.viewed !== true || camera === null) {
      this.use(crowd, { list: views.everyone }, renderer, rows);
      skeleton.drawnCount = null;
      return;
    }
    const { transparent, isShadowPassMaterial } = material as Material & { isShadowPassMaterial?: boolean };
    const isShadowMap = isShadowPassMaterial === true;
    const seen = seenBy(renderer, crowd, camera, isShadowMap);
    // In shadow maps the order is of no use.
    const isCut = crowd.count !== visibility.count;
    const view =
      isShadowMap || isCut ? seen.of(list, isCut) : seen.inOrder(list, transparent, matrixWorld, views);
    this.use(crowd, view, renderer, rows);
    // An attachment may be told to show fewer instances than there are. Lists are in ascending order then.
    skeleton.drawnCount = view.list.countBelow(crowd.count, view.count, view.start);
  }

  private use(
    crowd: DrawnCrowd,
    { list, start = 0 }: Pick<View, 'list' | 'start'>,
    renderer: object,
    rows: PaletteRows | null,
  ): void {
    const listed = rows?.listed(list) ?? list;
    crowd.bindMatrix.elements[PARAM_LISTED] = FIRST_LISTED + listed.first + start;
    listed.texture.prepare(renderer);
    this.list.value = layeredOf(listed.texture);
    lookUp(crowd, this, rows, rows?.instanceOf.texture);
  }
}

/** Has shaders look up rows of instances, or instances of rows, in a texture where these are not the same. */
export function lookUp(
  { bindMatrix }: DrawnCrowd,
  { others }: DrawnList,
  rows: PaletteRows | null,
  texture: InstanceTexture | undefined,
): void {
  const isSame = rows?.inOrder !== false;
  bindMatrix.elements[PARAM_LOOKS_UP] = isSame ? 0 : 1;
  others.value = isSame ? noNumbers('rows') : layeredOf(texture as InstanceTexture);
}

/** What a build reads its instances from. */
export const createList = (renderer: object, crowd: DrawnCrowd, fades: boolean): DrawnList =>
  gpuLists?.isUsed(renderer, crowd) ? gpuLists.createList(fades) : new CameraList();

/**
 * Whether nodes of the user read instanced attributes, as `instancedBufferAttribute` makes them: GPUs read those by the drawn
 * index, whatever instance is drawn there. Ask for it when a build is drawn.
 */
export const readsDrawnIndex = /*@__PURE__*/ onceABuild((crowd: DrawnCrowd, builder): boolean => {
  let reads = false;
  for (const { name, node } of buildOf(builder).getAttributesArray()) {
    if (!node?.attribute) continue;
    const attribute = node.getObjectAttribute(crowd) as BufferAttribute | InterleavedBufferAttribute | null;
    if (attribute === null || isOfVertices(attribute)) continue;
    warnNotCulled(name);
    reads = true;
  }
  return reads;
});
