import {
  type BufferAttribute,
  type BufferGeometry,
  type Camera,
  DoubleSide,
  type GeometryGroup,
  type InterleavedBufferAttribute,
  Material,
  type Matrix4,
  type Scene,
  type Texture,
  type WebGLRenderer,
} from 'three';
import { PARAM_ROWS, TEXTURE_LIST } from '../../constants.js';
import type { DrawnCrowd } from '../DrawnCrowd.js';
import { type Draw, drawStateOf } from './DrawState.js';
import { keptOf, stateOf } from './WebGLPosePass.js';

/** What types of three.js lack of a program. */
interface Program {
  getUniforms(): {
    setValue(gl: WebGL2RenderingContext, name: string, value: Matrix4): void;
    map: { boneTexture?: { map: { textures?: { cache: ArrayLike<number> } } } };
  };
}

/** What a renderer has made of a level's geometry, as it last drew it itself. */
interface Made {
  /** Others once its context was lost. */
  readonly properties: object;
  readonly geometry: BufferGeometry;
  readonly ownerGeometry: BufferGeometry;
  /** Attributes and index, each with its version. */
  readonly buffers: readonly unknown[];
  /** By the programs that they were bound for. */
  readonly arrays: WeakMap<object, WebGLVertexArrayObject>;
}

/** What the draw that has begun shows of a level. */
export interface ListedLevel {
  count: number;
  listed: Texture | null;
}

interface LevelState extends ListedLevel {
  made: Made | null;
  /** The last frame in which it was looked at whether its owner can draw it, and what came of it. */
  frame: number;
  canDraw: boolean;
  isUpdated: boolean;
  /** Whether the picture leaves it to its owner. */
  isWithOwner: boolean;
}

const known = /*@__PURE__*/ new WeakMap<DrawnCrowd, LevelState>();

const HOOKS = ['onBeforeRender', 'onAfterRender', 'onBeforeShadow', 'onAfterShadow'] as const;

/**
 * Draws levels of detail right after the mesh in whose place they are drawn, where they differ from it in nothing but their triangles: all
 * that three.js has bound holds then, but for the vertex array, and where the list begins. The first time three.js draws them itself, and
 * whenever something is otherwise.
 */
export const levelDraws = {
  /** Whether a level is left to its owner; asked when renderers look for what they draw. */
  isWithOwner(level: DrawnCrowd): boolean {
    const state = known.get(level);
    const { asked } = (level.owner as DrawnCrowd).skeleton;
    if (state === undefined || asked === null) return false;
    const is = canDrawNow(level, state);
    if (asked === 'shadow') return is && level.castShadow;
    state.isWithOwner = is;
    return is;
  },

  /**
   * Brings up to date what a draw of the owner shows of its levels.
   *
   * @param list Lists for shaders what the draw shows of a level; the first time in a frame it is new.
   */
  list(
    owner: DrawnCrowd,
    draw: Draw,
    list: (level: DrawnCrowd, draw: Draw, state: ListedLevel, isNew: boolean) => void,
  ): void {
    const { attachments } = owner;
    for (let i = 0; i < attachments.length; i++) {
      const level = attachments[i];
      const state = known.get(level);
      if (state === undefined) continue;
      const isDrawn =
        draw.material === null
          ? level.castShadow && canDrawNow(level, state)
          : state.isWithOwner && level.visible;
      state.count = 0;
      if (!isDrawn) continue;
      list(level, draw, state, !state.isUpdated);
      state.isUpdated = true;
      level.bindMatrix.elements[PARAM_ROWS] = owner.bindMatrix.elements[PARAM_ROWS];
      // Now: three.js takes the texture off that was bound last.
      const { renderer } = draw;
      const listed = state.listed as Texture;
      if (keptOf(renderer, listed).__version !== listed.version) renderer.initTexture(listed);
    }
  },

  /** Draws them, after a draw of their owner. */
  draw(
    owner: DrawnCrowd,
    draw: Draw,
    scene: Scene | null,
    camera: Camera,
    material: Material,
    group: GeometryGroup | null,
  ): void {
    // Whose part casts no shadow.
    if (owner.count === 0) return;
    const { attachments } = owner;
    const { renderer } = draw;
    const gl = renderer.getContext() as WebGL2RenderingContext;
    let before: WebGLVertexArrayObject | null = null;
    for (let i = 0; i < attachments.length; i++) {
      const level = attachments[i];
      const state = known.get(level);
      if (state === undefined || state.count === 0) continue;
      const part = group && groupOf(level.geometry, group);
      if (group !== null && part === null) continue;
      const program = programOf(renderer, material);
      const array = isWired(material) ? undefined : state.made?.arrays.get(program);
      if (array === undefined) {
        if (before !== null) gl.bindVertexArray(before);
        before = null;
        drawWhole(level, draw, scene, camera, material, part);
        continue;
      }
      before ??= gl.getParameter(gl.VERTEX_ARRAY_BINDING) as WebGLVertexArrayObject;
      const uniforms = program.getUniforms();
      uniforms.setValue(gl, 'bindMatrix', level.bindMatrix);
      const unit = uniforms.map.boneTexture?.map.textures?.cache[TEXTURE_LIST] ?? 0;
      const { __webglTexture } = keptOf(renderer, state.listed as Texture);
      stateOf(renderer).bindTexture(gl.TEXTURE_2D, __webglTexture as WebGLTexture, gl.TEXTURE0 + unit);
      gl.bindVertexArray(array);
      const { array: indices, count } = level.geometry.index as BufferAttribute;
      const bytes = indices.BYTES_PER_ELEMENT;
      const drawn = part?.count ?? count;
      const type = bytes === 2 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
      gl.drawElementsInstanced(gl.TRIANGLES, drawn, type, (part?.start ?? 0) * bytes, state.count);
      renderer.info.update(drawn, gl.TRIANGLES, state.count);
    }
    if (before !== null) gl.bindVertexArray(before);
  },

  /** Takes down how three.js has just drawn a level. */
  note(level: DrawnCrowd, renderer: WebGLRenderer, material: Material): void {
    const { geometry } = level;
    const { geometry: ownerGeometry } = level.owner as DrawnCrowd;
    if (isWired(material) || !isPlain(geometry, ownerGeometry)) return;
    let state = known.get(level);
    if (state === undefined) {
      state = {
        made: null,
        frame: -1,
        canDraw: false,
        isUpdated: false,
        isWithOwner: false,
        count: 0,
        listed: null,
      };
      known.set(level, state);
    }
    const { properties } = renderer;
    if (!isMade(state.made, properties, geometry, ownerGeometry)) {
      const made = {
        properties,
        geometry,
        ownerGeometry,
        buffers: buffersOf(geometry),
        arrays: new WeakMap(),
      };
      state.made = made;
      const forget = () => {
        geometry.removeEventListener('dispose', forget);
        if (state.made === made) state.made = null;
      };
      geometry.addEventListener('dispose', forget);
    }
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const program = programOf(renderer, material);
    if (!state.made?.arrays.has(program))
      state.made?.arrays.set(program, gl.getParameter(gl.VERTEX_ARRAY_BINDING));
  },
};

export type LevelDraws = typeof levelDraws;

const programOf = ({ properties }: WebGLRenderer, material: Material): Program =>
  (properties.get(material) as { currentProgram: Program }).currentProgram;

/** Has three.js draw a level whose vertices it has not bound for a program. */
function drawWhole(
  level: DrawnCrowd,
  { renderer, lodCamera }: Draw,
  scene: Scene | null,
  camera: Camera,
  material: Material,
  group: GeometryGroup | null,
): void {
  const { geometry } = level;
  const { modelViewMatrix, normalMatrix } = level.owner as DrawnCrowd;
  level.modelViewMatrix.copy(modelViewMatrix);
  level.normalMatrix.copy(normalMatrix);
  const part = group as never;
  if (scene === null)
    level.onBeforeShadow(renderer, level as never, lodCamera, camera, geometry, material, part);
  else level.onBeforeRender(renderer, scene, camera, geometry, material, part);
  renderer.renderBufferDirect(camera, scene as Scene, geometry, material, level, part);
  if (scene === null)
    level.onAfterShadow(renderer, level as never, lodCamera, camera, geometry, material, part);
  else level.onAfterRender(renderer, scene, camera, geometry, material, part);
}

function canDrawNow(level: DrawnCrowd, state: LevelState): boolean {
  const { frame } = drawStateOf(level.owner as DrawnCrowd);
  if (state.frame !== frame) {
    state.frame = frame;
    state.canDraw = canDraw(level, state);
    state.isUpdated = false;
  }
  return state.canDraw;
}

function canDraw(level: DrawnCrowd, { made }: LevelState): boolean {
  const owner = level.owner as DrawnCrowd;
  const renderer = drawStateOf(owner).renderer?.deref();
  return (
    renderer !== undefined &&
    isMade(made, renderer.properties, level.geometry, owner.geometry) &&
    level.visible &&
    level.material === owner.material &&
    level.receiveShadow === owner.receiveShadow &&
    level.renderOrder === owner.renderOrder &&
    level.layers.mask === owner.layers.mask &&
    level.matrixWorld.equals(owner.matrixWorld) &&
    !hasHooks(level) &&
    !hasHooks(owner) &&
    drawsOnce(owner.material)
  );
}

const isWired = (material: Material): boolean => (material as { wireframe?: boolean }).wireframe === true;

const hasHooks = (mesh: DrawnCrowd): boolean => {
  for (let i = 0; i < HOOKS.length; i++) if (Object.hasOwn(mesh, HOOKS[i])) return true;
  return false;
};

function drawsOnce(material: Material | readonly Material[]): boolean {
  if (Array.isArray(material)) {
    for (let i = 0; i < material.length; i++) if (!drawsOnce(material[i])) return false;
    return true;
  }
  const { transparent, side, forceSinglePass, onBeforeRender } = material as Material;
  return (
    !(transparent && side === DoubleSide && !forceSinglePass) &&
    onBeforeRender === Material.prototype.onBeforeRender
  );
}

/** Whether groups of a level stand for those of its owner, and all of its triangles are drawn. */
function isPlain(geometry: BufferGeometry, owner: BufferGeometry): boolean {
  const { groups, index, morphAttributes, drawRange, userData } = geometry;
  if (index === null || drawRange.count !== Infinity || drawRange.start !== 0) return false;
  for (const name in morphAttributes) if (name in morphAttributes) return false;
  if (String(userData.lacks) !== String(owner.userData.lacks)) return false;
  const once = (all: readonly GeometryGroup[]) =>
    new Set(all.map((group) => group.materialIndex)).size === all.length;
  return once(groups) && once(owner.groups) && groups.every((group) => groupOf(owner, group) !== null);
}

function groupOf({ groups }: BufferGeometry, { materialIndex }: GeometryGroup): GeometryGroup | null {
  for (let i = 0; i < groups.length; i++) if (groups[i].materialIndex === materialIndex) return groups[i];
  return null;
}

function isMade(
  made: Made | null,
  properties: object,
  geometry: BufferGeometry,
  owner: BufferGeometry,
): boolean {
  if (made?.properties !== properties || made.geometry !== geometry || made.ownerGeometry !== owner)
    return false;
  const { attributes, index } = geometry;
  const { buffers } = made;
  let at = 0;
  for (const name in attributes) {
    if (buffers[at] !== attributes[name] || buffers[at + 1] !== versionOf(attributes[name])) return false;
    at += 2;
  }
  return at === buffers.length - 2 && buffers[at] === index && buffers[at + 1] === index?.version;
}

const versionOf = (attribute: BufferAttribute | InterleavedBufferAttribute): number =>
  ((attribute as InterleavedBufferAttribute).data ?? attribute).version;

function buffersOf({ attributes, index }: BufferGeometry): unknown[] {
  const buffers = Object.values(attributes).flatMap((attribute) => [attribute, versionOf(attribute)]);
  return [...buffers, index, index?.version];
}
