import {
  type DataTexture,
  type Material,
  NearestFilter,
  NoBlending,
  RGBAIntegerFormat,
  type Texture,
  UnsignedIntType,
  Vector4,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import type { bodiesGLSL } from '../../../shaders/bodies.glsl.js';
import type { PoseEditGLSL } from '../../../shaders/jointEdits.glsl.js';
import type { layersGLSL } from '../../../shaders/layers.glsl.js';
import { composeStepGLSL, sampleStepGLSL, segmentStepGLSL } from '../../../shaders/posePass.glsl.js';
import type { BoneTexture } from '../../animation/BoneTexture.js';
import type { PoseTracks } from '../../animation/PoseTracks.js';
import { trackLayout } from '../../animation/trackTexels.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import type { InstanceList } from '../../culling/InstanceList.js';

/** Textures that a step writes, one for each row of a matrix. */
export const PALETTE_TEXTURES = 3;

/** Shader texts that features bring along, by their names. */
const features: {
  JointEdits?: PoseEditGLSL;
  AnimationLayers?: typeof layersGLSL;
  CrowdKinds?: typeof bodiesGLSL;
} = {};

/** Lets passes pose crowds with features. */
export function registerPassGLSL(glsl: typeof features): void {
  Object.assign(features, glsl);
}

/** @throws If the page has not imported it. */
function featureGLSL<K extends keyof typeof features>(name: K): NonNullable<(typeof features)[K]> {
  const glsl = features[name];
  if (glsl !== undefined) return glsl;
  throw new Error(
    `WebGLRenderer draws ${name} of the entry 'skinned-instanced-mesh': import ${name} from there.`,
  );
}

/** Texels in a row of a target, unless so many rows would be too many; every device has room for them. */
const MAX_WIDTH = 1024;
/** Rows that several passes write at once, and that one may: what lies between the steps takes no more memory. */
const ROWS_AT_ONCE = 64;
export const MAX_ROWS = 256;

/** Steps of a pass: it samples, multiplies matrices of segments if chains are long, and then those of chains. */
const STEPS = 3;
const COMPOSE = 2;

/**
 * The first texture unit that passes and uploads bind to, the last ones of the 32 that every device has: three.js gives materials the first
 * ones, and does not bind theirs once more where it draws another object in the same material.
 */
const FIRST_UNIT = 18;

/** Covers the viewport by one triangle. */
const VERTEX = /* glsl */ `void main() { gl_Position = vec4( gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0 ); }`;

/** What three.js sets before a draw: nothing but colours is written. */
const _material = { blending: NoBlending, colorWrite: true } as Material;
const _viewport = /*@__PURE__*/ new Vector4();
const _before = /*@__PURE__*/ new Vector4();

export const keptOf = ({ properties }: WebGLRenderer, thing: object) =>
  properties.get(thing) as {
    __version?: number;
    __webglTexture?: WebGLTexture;
    __webglFramebuffer?: WebGLFramebuffer;
  };

/**
 * Sends texels of floats to a texture of a renderer, from `start` up to and without `end`: three.js would say once more how the texture
 * is filtered, which takes longer than the few texels of a frame.
 */
export function sendTexels(renderer: WebGLRenderer, texture: DataTexture, start: number, end: number): void {
  const kept = keptOf(renderer, texture);
  // Has it made. What is not ready is not sent by that.
  if (kept.__webglTexture === undefined) {
    texture.needsUpdate = true;
    renderer.initTexture(texture);
  }
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const { TEXTURE_2D, RGBA, FLOAT } = gl;
  const { state } = renderer;
  const { width, data } = texture.image as { width: number; data: Float32Array };
  const unit = gl.TEXTURE0 + FIRST_UNIT;
  // A texture that is bound there already would not make it the active one.
  state.activeTexture(unit);
  state.bindTexture(TEXTURE_2D, kept.__webglTexture as WebGLTexture, unit);
  state.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  state.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  for (let at = start; at < end; ) {
    const x = at % width;
    // All whole rows at once; what is before and behind them are parts of one.
    const rows = x === 0 ? Math.max(1, Math.floor((end - at) / width)) : 1;
    const columns = Math.min(width - x, end - at);
    gl.texSubImage2D(TEXTURE_2D, 0, x, Math.floor(at / width), columns, rows, RGBA, FLOAT, data, at * 4);
    at += rows * columns;
  }
}

/** Sends a renderer what has changed of a texture. */
function uploadTexels(renderer: WebGLRenderer, texture: Texture): void {
  const kept = keptOf(renderer, texture);
  const { version } = texture;
  if (kept.__version === version) return;
  const { updateRanges } = texture as DataTexture;
  if (kept.__webglTexture === undefined || updateRanges.length === 0) {
    renderer.initTexture(texture);
    return;
  }
  for (let i = 0; i < updateRanges.length; i++) {
    const { start, count } = updateRanges[i];
    sendTexels(renderer, texture as DataTexture, start / 4, (start + count) / 4);
  }
  updateRanges.length = 0;
  kept.__version = version;
}

const createTarget = (width = 1, height = 1): WebGLRenderTarget =>
  new WebGLRenderTarget(width, height, {
    count: PALETTE_TEXTURES,
    format: RGBAIntegerFormat,
    type: UnsignedIntType,
    depthBuffer: false,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
  });

/** Palettes of few rows share targets, the first of so many and others of more: draws of many small crowds have one bound. */
const FEW_ROWS = 16;
const SHARED_ROWS = 64;

/** What small palettes are put into next. */
type Palette = { readonly target: WebGLRenderTarget; used: number; users: number };
let sharedPalette: Palette | null = null;

/** What the passes of a renderer share, by what it keeps of a context: that is another object when a lost context was restored. */
const known = /*@__PURE__*/ new WeakMap<
  object,
  {
    /** Programs by their text. */
    readonly programs: Map<
      string,
      {
        program: WebGLProgram;
        /** Undefined until it was used: to ask waits for the compiler. */
        settings?: WebGLUniformLocation | null;
        /** Texture units that it reads, a bit each. */
        units: number;
      }
    >;
    /** Where steps write what the next reads: local matrices, and what segments come to. As large as anybody has needed it. */
    readonly targets: readonly WebGLRenderTarget[];
    users: number;
    /** Passes that have yet to run, how many, and the rows that they will write. */
    readonly waiting: (WebGLPosePass | null)[];
    waits: number;
    rows: number;
  }
>();

function sharedOf(renderer: WebGLRenderer) {
  const { properties } = renderer;
  let shared = known.get(properties);
  if (shared === undefined) {
    const targets = [createTarget(), createTarget()];
    shared = { programs: new Map(), targets, users: 0, waiting: [], waits: 0, rows: 0 };
    known.set(properties, shared);
  }
  return shared;
}

/**
 * Runs the passes that wait, each step of all before the next: the GPU need not wait in between, and is told of programs and
 * targets once. May be called while the renderer draws, also into a shadow map: what it was about to draw into is put back.
 *
 * @param isDrawing Whether the renderer draws. Shadow maps and arrays of cameras then have a viewport of their own.
 */
export function runPasses(renderer: WebGLRenderer, isDrawing: boolean): void {
  const shared = sharedOf(renderer);
  const { waiting, waits } = shared;
  if (waits === 0) return;
  const target = renderer.getRenderTarget();
  const face = renderer.getActiveCubeFace();
  const level = renderer.getActiveMipmapLevel();
  if (isDrawing) {
    const gl = renderer.getContext();
    _before.fromArray(gl.getParameter(gl.VIEWPORT) as Int32Array);
  }
  const { state } = renderer;
  try {
    state.setScissorTest(false);
    state.setMaterial(_material, false, 0);
    // First, and once all are written that several passes share: an upload takes the place of what was bound.
    for (let i = 0; i < waits; i++) waiting[i]?.upload(renderer);
    for (let step = 0; step < STEPS; step++)
      for (let i = 0; i < waits; i++) waiting[i]?.run(renderer, shared.targets, step);
  } catch (error) {
    for (const pass of waiting) if (pass !== null) pass.posedIn = undefined;
    throw error;
  } finally {
    waiting.fill(null);
    shared.waits = shared.rows = 0;
    renderer.setRenderTarget(target, face, level);
    if (isDrawing) renderer.state.viewport(_before);
  }
}

/**
 * Poses instances, each once, into textures that hold the rows of their skinning matrices: a palette. The first of two steps
 * makes the local matrix of each node, the second multiplies those from the root down to each joint, where chains are long after
 * one that multiplies those of their segments. WebGL is called without three.js's materials, which take several times as long; the renderer's record of its state stays right.
 */
export class WebGLPosePass {
  /** Instances in a row of the palette; a power of two. */
  perRow = 1;
  /** Fragment shaders of the steps; empty for one that there is not. */
  private readonly shaders: readonly string[];
  /** What the palette is in, null as long as there is no room for anybody, and the first of its rows there. */
  palette: Palette | null = null;
  first = 0;
  /** What a renderer has the poses in: another one where its context was lost, or it was disposed; none where an error was thrown. */
  posedIn?: WebGLFramebuffer;
  private readonly samplers: readonly string[];
  private readonly settings = new Float32Array(12);
  /** Textures that the steps read, by their samplers. */
  private readonly inputs: Texture[] = [];
  private readonly boneTexture: BoneTexture;
  private readonly hasBodies: boolean;
  /** Layers that clips play on, with the base. */
  private readonly layers: number;
  private readonly entries: number;
  /** Columns of the palette that are joints, and all that an instance has. */
  private readonly columns: number;
  private readonly width: number;
  private shared: ReturnType<typeof sharedOf> | null = null;
  /** How many rows run, and the first of them in what the first step writes. */
  private rows = 0;
  private row = 0;

  /**
   * Call `setSize` before anything else.
   *
   * @param edited Whether poses are edited.
   */
  constructor(
    { playback, crowd: { boneTexture, bodies: shapes, columns } }: DrawnCrowd,
    private readonly edited: boolean,
  ) {
    const tracks = boneTexture.data.tracks as PoseTracks;
    const { parents, morphRest, shorts } = tracks;
    const layout = trackLayout(tracks);
    this.boneTexture = boneTexture;
    this.hasBodies = shapes !== null;
    this.layers = playback.layers.length;
    this.entries = parents.length + morphRest.length / 4;
    this.columns = columns;
    // Behind all else is the inverse of the instance's own matrix.
    this.width = columns + morphRest.length / 4 + 1;
    this.settings.set([parents.length, this.entries, columns, 0, layout.nodes, layout.joints, layout.clips]);
    const { layers, hasBodies } = this;
    const edits = edited ? featureGLSL('JointEdits') : null;
    const over = layers > 1 ? featureGLSL('AnimationLayers') : null;
    const bodies = hasBodies ? featureGLSL('CrowdKinds') : null;
    // Steps that are the same text have the same samplers at the same units.
    this.samplers = [
      'locals[0]',
      'locals[1]',
      'locals[2]',
      'tracks',
      'instances',
      'played',
      'matrices',
    ].concat(
      edits?.textures ?? [],
      shorts === null ? [] : 'shortKeys',
      over === null ? [] : 'masks',
      hasBodies ? 'bodies' : [],
    );
    const define = shorts === null ? '' : '#define SHORT_KEYS\n';
    // An edit of a joint relative to the root needs all before it in the chain.
    const hasSegments = layout.hasLongChains && !edited;
    this.shaders = [
      define + sampleStepGLSL(layers, over, edits, bodies),
      hasSegments ? segmentStepGLSL() : '',
      composeStepGLSL(layers, edits, bodies, hasSegments),
    ];
  }

  /** Whether it is made for a crowd as that is now. */
  suits({ playback, crowd: { boneTexture, poseEdits, bodies, columns } }: DrawnCrowd): boolean {
    const isSame = this.boneTexture === boneTexture && this.columns === columns;
    const hasSame = this.layers === playback.layers.length && this.hasBodies === (bodies !== null);
    return isSame && hasSame && this.edited === (poseEdits?.isUsed === true);
  }

  /**
   * Makes room for the poses of `size` instances. Those that were there are lost.
   *
   * @param maxSize Texels that a side of a texture may have on the device.
   * @throws If it has no room for so many.
   */
  setSize(size: number, maxSize: number): void {
    const width = Math.max(this.entries, this.width);
    let perRow = 1;
    while (perRow * 2 * width <= maxSize && (perRow * 2 * width <= MAX_WIDTH || size > perRow * maxSize))
      perRow *= 2;
    if (size > perRow * maxSize) {
      throw new Error(
        `SkinnedInstancedMesh: this device has room for poses of ${perRow * maxSize} instances of ${this.columns} joints, not of ${size}; make several crowds.`,
      );
    }
    this.perRow = this.settings[3] = perRow;
    this.leavePalette();
    const rows = Math.ceil(size / perRow);
    const ownWidth = this.width * perRow;
    const isShared = ownWidth <= MAX_WIDTH && rows <= FEW_ROWS;
    let palette = isShared ? sharedPalette : null;
    if (palette === null || palette.used + rows > palette.target.height) {
      const height = palette === null ? FEW_ROWS : SHARED_ROWS;
      const target = isShared ? createTarget(MAX_WIDTH, height) : createTarget(ownWidth, rows);
      palette = { target, used: 0, users: 0 };
      if (isShared) sharedPalette = palette;
    }
    this.palette = palette;
    this.first = palette.used;
    palette.used += rows;
    palette.users++;
  }

  /** Has a renderer make its programs. */
  compile(renderer: WebGLRenderer): void {
    for (const shader of this.shaders) if (shader) this.programFor(renderer, shader);
  }

  /**
   * Poses instances at the next `runPasses`.
   *
   * @param due The instance that is posed at each place of the palette; -1 where none is.
   * @param row The first row of the palette that is written.
   * @param rows How many are: `MAX_ROWS` at most.
   */
  wait(
    renderer: WebGLRenderer,
    { playback, crowd }: DrawnCrowd,
    due: InstanceList,
    row: number,
    rows: number,
    matrices: Texture,
  ): void {
    const { settings, perRow, inputs } = this;
    const { boneTexture, bodies } = crowd;
    const { shortKeys } = boneTexture;
    const { over } = playback;
    settings[8] = playback.time.time;
    settings[9] = playback.time.epoch;
    settings[10] = due.first;

    let at = PALETTE_TEXTURES;
    inputs[at++] = boneTexture;
    inputs[at++] = due.texture.plain;
    inputs[at++] = playback.texels.texture.plain;
    inputs[at++] = matrices;
    if (this.edited) for (const texture of crowd.poseEdits?.textures ?? []) inputs[at++] = texture.plain;
    if (shortKeys !== null) inputs[at++] = shortKeys;
    if (over !== null) inputs[at++] = over.masks;
    if (bodies !== null) inputs[at++] = bodies;
    const shared = sharedOf(renderer);
    if (this.shared !== shared) {
      this.leave();
      this.shared = shared;
      shared.users++;
    }
    const { width, height } = shared.targets[0];
    if (shared.rows + rows > height) runPasses(renderer, false);
    const fitWidth = Math.max(width, this.entries * perRow);
    const most = Math.min(this.palette?.target.height ?? 1, MAX_ROWS);
    const fitHeight = Math.max(height, most, shared.users > 1 ? ROWS_AT_ONCE : 1);
    for (const target of shared.targets) target.setSize(fitWidth, fitHeight);
    this.row = shared.rows;
    this.rows = rows;
    shared.rows += rows;
    settings[7] = this.row - row;
    shared.waiting[shared.waits++] = this;
  }

  dispose(): void {
    this.leavePalette();
    this.leave();
  }

  private leavePalette(): void {
    const { palette } = this;
    this.palette = null;
    if (palette === null || --palette.users > 0) return;
    palette.target.dispose();
    if (palette === sharedPalette) sharedPalette = null;
  }

  private leave(): void {
    const { shared } = this;
    this.shared = null;
    if (shared !== null && --shared.users === 0) for (const target of shared.targets) target.setSize(1, 1);
  }

  /** Sends a renderer what the steps read and it has not got yet. */
  upload(renderer: WebGLRenderer): void {
    const { inputs } = this;
    for (let i = PALETTE_TEXTURES; i < inputs.length; i++) uploadTexels(renderer, inputs[i]);
  }

  /** Runs a step. Its target is the renderer's afterwards. */
  run(renderer: WebGLRenderer, scratch: readonly WebGLRenderTarget[], step: number): void {
    const { inputs, samplers, settings, row, first, perRow } = this;
    const shader = this.shaders[step];
    // It has none where the crowd was disposed before its turn.
    if (!shader || this.palette === null) return;
    const isLast = step === COMPOSE;
    const target = isLast ? this.palette.target : scratch[step];
    const { textures } = scratch[isLast && this.shaders[1] ? 1 : 0];
    for (let i = 0; i < PALETTE_TEXTURES; i++) inputs[i] = textures[i];
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const { state } = renderer;
    const { useProgram: setProgram } = state;
    const framebuffer = keptOf(renderer, target).__webglFramebuffer;
    if (framebuffer === undefined) renderer.setRenderTarget(target);
    else state.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    if (isLast) this.posedIn = keptOf(renderer, target).__webglFramebuffer;
    const width = (isLast ? this.width : this.entries) * perRow;
    // What shaders know of rows of the palette counts from its own first one.
    const below = isLast ? first : 0;
    settings[7] -= below;
    settings[10] -= below * perRow;
    state.viewport(_viewport.set(0, isLast ? row - settings[7] : row, width, this.rows));
    const made = this.programFor(renderer, shader);
    const { program } = made;
    setProgram(program);
    if (made.settings === undefined) {
      // Null where the context is lost.
      if (gl.getProgramParameter(program, gl.LINK_STATUS) === false)
        throw new Error(`The pass that poses crowds: ${gl.getProgramInfoLog(program)}`);
      samplers.forEach((name, unit) => {
        const sampler = gl.getUniformLocation(program, name);
        gl.uniform1i(sampler, FIRST_UNIT + unit);
        if (sampler !== null) made.units |= 1 << unit;
      });
      made.settings = gl.getUniformLocation(program, 'settings');
    }
    gl.uniform4fv(made.settings, settings);
    settings[7] += below;
    settings[10] += below * perRow;
    for (let i = 0; i < inputs.length; i++) {
      if ((made.units & (1 << i)) === 0) continue;
      const { __webglTexture } = keptOf(renderer, inputs[i]);
      state.bindTexture(gl.TEXTURE_2D, __webglTexture as WebGLTexture, gl.TEXTURE0 + FIRST_UNIT + i);
    }
    // Instanced, as no triangle of three.js's own is: so that tools can tell it.
    gl.drawArraysInstanced(gl.TRIANGLES, 0, 3, 1);
    renderer.info.update(3, gl.TRIANGLES, 1);
  }

  /** A step's program, which all passes of a renderer share. Only its first use waits for it. */
  private programFor(renderer: WebGLRenderer, fragmentShader: string) {
    const { programs } = sharedOf(renderer);
    let made = programs.get(fragmentShader);
    if (made === undefined) {
      const gl = renderer.getContext() as WebGL2RenderingContext;
      const program = gl.createProgram();
      const add = (type: number, text: string) => {
        const shader = gl.createShader(type) as WebGLShader;
        gl.shaderSource(shader, `#version 300 es\n${text}`);
        gl.compileShader(shader);
        gl.attachShader(program, shader);
        gl.deleteShader(shader);
      };
      add(gl.VERTEX_SHADER, VERTEX);
      add(gl.FRAGMENT_SHADER, fragmentShader);
      gl.linkProgram(program);
      made = { program, units: 0 };
      programs.set(fragmentShader, made);
    }
    return made;
  }
}
