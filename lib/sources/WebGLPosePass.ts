import type { DataTexture, Texture, WebGLRenderer } from 'three';
import {
  BufferGeometry,
  Camera,
  FloatType,
  GLSL3,
  Mesh,
  NearestFilter,
  NoBlending,
  RawShaderMaterial,
  RGBAFormat,
  Vector3,
  Vector4,
  WebGLRenderTarget,
} from 'three';
import { posePassGLSL } from '../../shaders/posePass.glsl.js';
import type { TrackLayout } from '../tracks/trackTexels.js';

/** What a pass reads. */
export interface PosePassInput {
  /** `trackTexels` as a texture. */
  tracks: Texture;
  layout: TrackLayout;
  /** Nodes that have tracks. */
  nodes: number;
  joints: number;
  /** What the instances play, see `ActionTexels`. */
  played: DataTexture;
  clock: number;
}

/** Texels that a row of a palette may take; every device has room for them. */
const MAX_COLUMNS = 2048;

const _camera = /*@__PURE__*/ new Camera();
const _viewport = /*@__PURE__*/ new Vector4();

/** A triangle that covers the target; it has no attributes, its corners come from their number. */
const VERTEX = /* glsl */ `
void main() {

  gl_Position = vec4( gl_VertexID == 1 ? 3.0 : - 1.0, gl_VertexID == 2 ? 3.0 : - 1.0, 0.0, 1.0 );

}
`;

/** Poses every instance of a crowd once, into three textures that hold the rows of its skinning matrices: a palette. */
export class WebGLPosePass {
  /** Instances in a row of the palette; a power of two. */
  readonly perRow: number;
  private readonly target: WebGLRenderTarget;
  private readonly material: RawShaderMaterial;
  private readonly mesh: Mesh;

  /** @param columns Texels of an instance: its joints, and behind them groups of four morph targets. */
  constructor(
    readonly capacity: number,
    readonly columns: number,
  ) {
    this.perRow = 2 ** Math.min(8, Math.max(0, Math.floor(Math.log2(MAX_COLUMNS / columns))));
    const height = Math.max(1, Math.ceil(capacity / this.perRow));
    this.target = new WebGLRenderTarget(this.perRow * columns, height, {
      count: 3,
      format: RGBAFormat,
      type: FloatType,
      depthBuffer: false,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    this.material = new RawShaderMaterial({
      name: 'CrowdPosePass',
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: posePassGLSL,
      uniforms: {
        tracks: { value: null },
        played: { value: null },
        trackLayout: { value: new Vector3() },
        paletteLayout: { value: new Vector4() },
        clock: { value: 0 },
      },
      blending: NoBlending,
      depthTest: false,
      depthWrite: false,
    });
    const geometry = new BufferGeometry();
    geometry.setDrawRange(0, 3);
    this.mesh = new Mesh(geometry, this.material);
  }

  /** The rows of the skinning matrices. */
  get textures(): Texture[] {
    return this.target.textures;
  }

  /** Whether a renderer has a palette from this pass; one that has lost its context has not. */
  isPosed(renderer: WebGLRenderer): boolean {
    return (
      (renderer.properties.get(this.target) as { __webglFramebuffer?: unknown }).__webglFramebuffer !==
      undefined
    );
  }

  /**
   * Poses the first `count` instances. May be called while the renderer draws, also into a shadow map: what it was about
   * to draw into is put back.
   *
   * @throws If the renderer is not in the middle of a `render`.
   */
  run(renderer: WebGLRenderer, count: number, input: PosePassInput): void {
    const { uniforms } = this.material;
    uniforms.tracks.value = input.tracks;
    uniforms.played.value = input.played;
    (uniforms.trackLayout.value as Vector3).set(input.layout.nodes, input.layout.joints, input.layout.clips);
    (uniforms.paletteLayout.value as Vector4).set(input.joints, this.columns, this.perRow, input.nodes);
    uniforms.clock.value = input.clock;
    this.material.uniformsNeedUpdate = true;

    const target = renderer.getRenderTarget();
    const face = renderer.getActiveCubeFace();
    const level = renderer.getActiveMipmapLevel();
    const gl = renderer.getContext();
    // Shadow maps set a viewport of their own, which setting the target would replace by the whole of it.
    const viewport = gl.getParameter(gl.VIEWPORT) as Int32Array;
    const [x, y, width, height] = viewport;
    const { xr } = renderer;
    const xrEnabled = xr.enabled;
    xr.enabled = false;

    this.target.viewport.set(0, 0, this.target.width, Math.ceil(count / this.perRow));
    renderer.setRenderTarget(this.target);
    try {
      renderer.renderBufferDirect(
        _camera,
        null as never,
        this.mesh.geometry,
        this.material,
        this.mesh,
        null as never,
      );
    } finally {
      renderer.setRenderTarget(target, face, level);
      xr.enabled = xrEnabled;
      renderer.state.viewport(_viewport.set(x, y, width, height));
    }
  }

  dispose(): void {
    this.target.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }
}
