import {
  type Material,
  NearestFilter,
  NoBlending,
  RGBAIntegerFormat,
  type Texture,
  UnsignedIntType,
  type Vector4,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { FEW_RUNS, LIST_TEXELS, LIST_TEXELS_BITS } from '../../constants.js';

/** Numbers that a step is told, in one array of vectors: four that fragments read too, and then runs, where these are few. */
export const SETTINGS = 16 + 2 * FEW_RUNS;
/** Instances in a row, rows of the target, and whether there is a texture of runs. */
export const SETTING_ROWS = 12;
export const SETTING_RUNS = 16;

/**
 * Rectangles of pairs of instances, see `InstanceRuns`: two rows high, so that GPUs' blocks of 2 x 2 pixels are full. Their corners
 * are bits for right and up.
 */
const vertexGLSL = () => /* glsl */ `
uniform highp sampler2D runs;
uniform highp vec4 settings[ ${SETTINGS / 4} ];

void main() {

  int texel = gl_InstanceID >> 1;
  vec4 two = settings[ 4 + ( texel & ${FEW_RUNS / 2 - 1} ) ];
  if ( settings[ 3 ].z > 0.5 )
    two = texelFetch( runs, ivec2( texel & ${LIST_TEXELS - 1}, texel >> ${LIST_TEXELS_BITS} ), 0 );
  vec2 span = ( gl_InstanceID & 1 ) == 0 ? two.xy : two.zw;

  // A quarter more is for the lower one of each pair, a half for the upper one.
  float part = fract( span.y );
  float count = span.y - part;
  float perRow = settings[ 3 ].x;
  float row = floor( ( span.x + 0.5 ) / perRow );
  vec2 first = vec2( span.x - row * perRow, row * 2.0 + ( part > 0.4 ? 1.0 : 0.0 ) );
  vec2 size = vec2( min( count, perRow ), part > 0.0 ? 1.0 : ceil( ( count - 0.5 ) / perRow ) * 2.0 );
  vec2 at = ( first + vec2( gl_VertexID & 1, gl_VertexID >> 1 ) * size ) / settings[ 3 ].xy;
  gl_Position = vec4( at * 2.0 - 1.0, 0.0, 1.0 );

}
`;

/** What three.js sets before a draw: nothing but colours is written. */
const _material = { blending: NoBlending, colorWrite: true } as Material;

/** What is called of a renderer's state; types of three.js lack some of it. */
interface State {
  setMaterial(material: Material, frontFaceCW: boolean): void;
  setScissorTest(on: boolean): void;
  useProgram(program: WebGLProgram): boolean;
  bindFramebuffer(target: number, framebuffer: WebGLFramebuffer): void;
  bindTexture(type: number, texture: WebGLTexture, slot: number): void;
  viewport(viewport: Vector4): void;
}

/** What a renderer keeps of a texture or a target. */
interface Kept {
  __version?: number;
  __webglTexture?: WebGLTexture;
  __webglFramebuffer?: WebGLFramebuffer;
}

export const keptOf = ({ properties }: WebGLRenderer, thing: object): Kept => properties.get(thing) as Kept;

export const stateOf = ({ state }: WebGLRenderer): State => state as unknown as State;

/** Call before steps are drawn. */
export function beginSteps(renderer: WebGLRenderer): void {
  const state = stateOf(renderer);
  state.setScissorTest(false);
  state.setMaterial(_material, false);
}

/** A program of a renderer, which all steps of the same text share that number their textures alike. */
interface PassProgram {
  program: WebGLProgram;
  /** Null until it was used. */
  settings: WebGLUniformLocation | null;
}

/** By what a renderer keeps of a context: it has another of these when a lost context was restored. */
const contexts = /*@__PURE__*/ new WeakMap<object, Map<string, PassProgram>>();

/** Makes a program. Nothing waits for it yet. */
function createProgram(gl: WebGL2RenderingContext, fragmentShader: string): PassProgram {
  const program = gl.createProgram();
  const add = (type: number, text: string) => {
    const shader = gl.createShader(type) as WebGLShader;
    gl.shaderSource(shader, `#version 300 es\n${text}`);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  };
  add(gl.VERTEX_SHADER, vertexGLSL());
  add(gl.FRAGMENT_SHADER, fragmentShader);
  gl.linkProgram(program);
  return { program, settings: null };
}

/**
 * A fragment shader that writes rows of numbers into textures of integers, which every device with WebGL 2 can draw into. WebGL is
 * called without three.js's materials, which take several times as long; the renderer's record of its state stays right.
 */
export class PassStep {
  readonly target: WebGLRenderTarget;
  private readonly key: string;
  /** The program that was used last, and what its renderer keeps of its context: to look it up compares long texts. */
  private last: WeakRef<PassProgram> | null = null;
  private context: object | null = null;

  /**
   * @param count Textures that it writes.
   * @param fragmentShader Has as many outputs, of type `uvec4`.
   * @param samplers Names of the textures that it may read.
   */
  constructor(
    count: number,
    private readonly fragmentShader: string,
    private readonly samplers: readonly string[],
  ) {
    this.key = samplers + fragmentShader;
    this.target = new WebGLRenderTarget(1, 1, {
      count,
      format: RGBAIntegerFormat,
      type: UnsignedIntType,
      depthBuffer: false,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
  }

  get textures(): Texture[] {
    return this.target.textures;
  }

  /** Another size frees the target, which is made anew when it is next drawn into. */
  setSize(width: number, height: number): void {
    this.target.setSize(width, height);
  }

  /** The program of a renderer, which it makes if there is none; only the first use waits for it. */
  programFor(renderer: WebGLRenderer): PassProgram {
    const { properties } = renderer;
    const last = this.context === properties ? this.last?.deref() : undefined;
    if (last !== undefined) return last;
    const shared = contexts.get(properties) ?? new Map<string, PassProgram>();
    contexts.set(properties, shared);
    const { fragmentShader, key } = this;
    let program = shared.get(key);
    if (program === undefined) {
      program = createProgram(renderer.getContext() as WebGL2RenderingContext, fragmentShader);
      shared.set(key, program);
    }
    this.context = properties;
    this.last = new WeakRef(program);
    return program;
  }

  /**
   * Runs it for rectangles of the target, which is the renderer's target afterwards.
   *
   * @param settings See `SETTINGS`.
   * @param inputs Textures, by their samplers; the first `read` of them are read. All are uploaded.
   * @param count How many rectangles.
   * @param viewport Of the target.
   */
  draw(
    renderer: WebGLRenderer,
    settings: Float32Array,
    inputs: readonly Texture[],
    read: number,
    count: number,
    viewport: Vector4,
  ): void {
    const { target } = this;
    const gl = renderer.getContext() as WebGL2RenderingContext;
    const state = stateOf(renderer);
    const { useProgram: setProgram } = state;
    const framebuffer = keptOf(renderer, target).__webglFramebuffer;
    if (framebuffer === undefined) renderer.setRenderTarget(target);
    else state.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
    state.viewport(viewport);
    const made = this.programFor(renderer);
    setProgram(made.program);
    made.settings ??= this.prepare(gl, made.program);
    gl.uniform4fv(made.settings, settings);
    for (let i = 0; i < read; i++) {
      const { __webglTexture } = keptOf(renderer, inputs[i]);
      state.bindTexture(gl.TEXTURE_2D, __webglTexture as WebGLTexture, gl.TEXTURE0 + i);
    }
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
    renderer.info.update(6, gl.TRIANGLES, count);
  }

  dispose(): void {
    this.target.dispose();
  }

  /** Numbers the textures of a program that is used for the first time, and says where its settings are. */
  private prepare(gl: WebGL2RenderingContext, program: WebGLProgram): WebGLUniformLocation | null {
    // Null where the context is lost.
    if (gl.getProgramParameter(program, gl.LINK_STATUS) === false)
      throw new Error(`The pass that poses crowds: ${gl.getProgramInfoLog(program)}`);
    this.samplers.forEach((name, unit) => {
      gl.uniform1i(gl.getUniformLocation(program, name), unit);
    });
    return gl.getUniformLocation(program, 'settings');
  }
}

/** Has a renderer upload what has changed of a texture. */
export function uploadTexture(renderer: WebGLRenderer, texture: Texture): void {
  if (keptOf(renderer, texture).__version !== texture.version) renderer.initTexture(texture);
}
