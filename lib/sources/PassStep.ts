import {
  BufferGeometry,
  Camera,
  GLSL3,
  type IUniform,
  Mesh,
  NearestFilter,
  NoBlending,
  RawShaderMaterial,
  RGBAIntegerFormat,
  type Texture,
  UnsignedIntType,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';

const _camera = /*@__PURE__*/ new Camera();

/** A triangle that covers the target; it has no attributes, its corners come from their number. */
const VERTEX = /* glsl */ `
void main() {

  gl_Position = vec4( gl_VertexID == 1 ? 3.0 : - 1.0, gl_VertexID == 2 ? 3.0 : - 1.0, 0.0, 1.0 );

}
`;

/** A fragment shader that writes rows of numbers into textures of integers, which every device with WebGL 2 can draw into. */
export class PassStep {
  readonly target: WebGLRenderTarget;
  private readonly material: RawShaderMaterial;
  private readonly mesh: Mesh;

  /**
   * @param count Textures that it writes.
   * @param fragmentShader Has as many outputs, of type `uvec4`.
   */
  constructor(
    name: string,
    width: number,
    height: number,
    count: number,
    fragmentShader: string,
    readonly uniforms: Record<string, IUniform>,
  ) {
    this.target = new WebGLRenderTarget(width, height, {
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
      vertexShader: VERTEX,
      fragmentShader,
      uniforms,
      blending: NoBlending,
      depthTest: false,
      depthWrite: false,
    });
    const geometry = new BufferGeometry();
    geometry.setDrawRange(0, 3);
    this.mesh = new Mesh(geometry, this.material);
  }

  get textures(): Texture[] {
    return this.target.textures;
  }

  /**
   * Runs it for the first rows of the target, which is the renderer's target afterwards.
   *
   * @throws If the renderer is not in the middle of a `render`.
   */
  draw(renderer: WebGLRenderer, rows: number): void {
    const { target, material, mesh } = this;
    material.uniformsNeedUpdate = true;
    target.viewport.set(0, 0, target.width, rows);
    renderer.setRenderTarget(target);
    renderer.renderBufferDirect(_camera, null as never, mesh.geometry, material, mesh, null as never);
  }

  dispose(): void {
    this.target.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
  }
}
