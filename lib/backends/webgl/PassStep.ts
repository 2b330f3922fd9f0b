import {
  BufferGeometry,
  GLSL3,
  type IUniform,
  Mesh,
  NearestFilter,
  NoBlending,
  OrthographicCamera,
  RawShaderMaterial,
  RGBAIntegerFormat,
  type Texture,
  UnsignedIntType,
  Vector3,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { LIST_TEXELS, LIST_TEXELS_BITS } from '../../constants.js';
import type { InstanceRuns } from '../../culling/InstanceList.js';

/** Of a kind that three.js can turn over where depth is reversed. */
const _camera = /*@__PURE__*/ new OrthographicCamera();

/** Corners of the triangle that covers the target, and of the two that make a rectangle. */
const CORNERS = 3;
const RUN_CORNERS = 6;

/** Either a triangle that covers the target, or rectangles for runs of instances. Corners come from their number alone. */
const vertexGLSL = () => /* glsl */ `
uniform highp sampler2D runs;
/* Pixels of an instance, instances in a row, rows; 0 for all. */
uniform ivec3 runLayout;

void main() {

  if ( runLayout.z == 0 ) {

    gl_Position = vec4( gl_VertexID == 1 ? 3.0 : - 1.0, gl_VertexID == 2 ? 3.0 : - 1.0, 0.0, 1.0 );
    return;

  }

  int run = gl_VertexID / ${RUN_CORNERS};
  int corner = gl_VertexID - run * ${RUN_CORNERS};
  int texel = run >> 1;
  vec4 two = texelFetch( runs, ivec2( texel & ${LIST_TEXELS - 1}, texel >> ${LIST_TEXELS_BITS} ), 0 );
  ivec2 span = ivec2( ( run & 1 ) == 0 ? two.xy : two.zw );

  // The corners are 0, 1, 2, 2, 1, 3: those of a rectangle by the bits for right and up.
  int place = corner < 3 ? corner : ( corner == 3 ? 2 : corner == 4 ? 1 : 3 );
  int row = span.x / runLayout.y;
  int first = span.x - row * runLayout.y;
  ivec2 size = ivec2( min( span.y, runLayout.y ), ( span.y + runLayout.y - 1 ) / runLayout.y );
  vec2 at = vec2( ivec2( first, row ) + ivec2( place & 1, place >> 1 ) * size ) / vec2( runLayout.yz );
  gl_Position = vec4( at * 2.0 - 1.0, 0.0, 1.0 );

}
`;

/** A fragment shader that writes rows of numbers into textures of integers, which every device with WebGL 2 can draw into. */
export class PassStep {
  readonly target: WebGLRenderTarget;
  private readonly runLayout = new Vector3();
  private readonly material: RawShaderMaterial;
  private readonly mesh: Mesh;

  /**
   * @param count Textures that it writes.
   * @param fragmentShader Has as many outputs, of type `uvec4`.
   */
  constructor(
    name: string,
    count: number,
    fragmentShader: string,
    readonly uniforms: Record<string, IUniform>,
  ) {
    Object.assign(uniforms, { runs: { value: null }, runLayout: { value: this.runLayout } });
    this.target = new WebGLRenderTarget(1, 1, {
      count,
      format: RGBAIntegerFormat,
      type: UnsignedIntType,
      depthBuffer: false,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    this.material = new RawShaderMaterial({
      name,
      glslVersion: GLSL3,
      vertexShader: vertexGLSL(),
      fragmentShader,
      uniforms,
      blending: NoBlending,
      depthTest: false,
      depthWrite: false,
    });
    const geometry = new BufferGeometry();
    this.mesh = new Mesh(geometry, this.material);
  }

  get textures(): Texture[] {
    return this.target.textures;
  }

  /** Another size frees the target, which is made anew when it is next drawn into. */
  setSize(width: number, height: number): void {
    this.target.setSize(width, height);
  }

  /** Has a renderer make its program. */
  compile(renderer: WebGLRenderer): void {
    renderer.compile(this.mesh, _camera);
  }

  /**
   * Runs it for the first rows of the target, which is the renderer's target afterwards.
   *
   * @param runs Instances that it is run for; null for all of these rows.
   * @throws If the renderer is not in the middle of a `render`.
   */
  draw(renderer: WebGLRenderer, rows: number, runs: InstanceRuns | null): void {
    const { target, material, mesh, uniforms, runLayout } = this;
    uniforms.runs.value = runs?.texture.plain ?? null;
    if (runs === null) runLayout.set(0, 0, 0);
    else runLayout.set(target.width / runs.perRow, runs.perRow, rows);
    mesh.geometry.setDrawRange(0, runs === null ? CORNERS : runs.count * RUN_CORNERS);
    material.uniformsNeedUpdate = true;
    target.viewport.set(0, 0, target.width, rows);
    renderer.setRenderTarget(target);
    renderer.renderBufferDirect(_camera, null as never, mesh.geometry, material, mesh, null as never);
    uniforms.runs.value = null;
  }

  dispose(): void {
    this.target.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }
}
