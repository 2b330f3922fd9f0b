import {
  BufferAttribute,
  type BufferGeometry,
  FloatType,
  type Material,
  type Mesh,
  MeshBasicMaterial,
  NearestFilter,
  PerspectiveCamera,
  RGBAFormat,
  Scene,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';

/** Pixels in a row of a capture; a row holds vertices of one instance only. */
export const CAPTURE_WIDTH = 512;

/**
 * The geometry as one point per vertex, which covers the pixel that stands for the vertex. So whatever a material's
 * vertex shader makes of a vertex can be read back from a float render target.
 */
export function captureGeometry(source: BufferGeometry): BufferGeometry {
  const geometry = source.clone().setIndex(null);
  geometry.clearGroups();
  for (const name of Object.keys(geometry.attributes)) {
    if (name.startsWith('instance')) geometry.deleteAttribute(name);
  }
  const { count } = source.getAttribute('position');
  const index = Float32Array.from({ length: count }, (_, i) => i);
  geometry.setAttribute('captureIndex', new BufferAttribute(index, 1));
  return geometry;
}

/** Dresses a crowd so that its vertices can be read; returns how many an instance has. */
export function letRead(crowd: Mesh, how: { material(vertices: number): Material }): number {
  const { count } = crowd.geometry.getAttribute('position');
  crowd.geometry = captureGeometry(crowd.geometry);
  crowd.material = how.material(count);
  return count;
}

/** Lets three.js draw the vertices of a mesh as points while `draw` runs. */
export function asPoints<T>(mesh: Mesh, draw: () => T): T {
  const kind = mesh as unknown as { isMesh: boolean; isPoints: boolean };
  kind.isMesh = false;
  kind.isPoints = true;
  try {
    return draw();
  } finally {
    kind.isMesh = true;
    kind.isPoints = false;
  }
}

/** A material that writes what `expression` (a vec3 of the vertex shader) is for each vertex; by default its world position. */
export function captureMaterial(
  vertices: number,
  expression = 'captured.xyz',
  material: Material = new MeshBasicMaterial(),
): Material {
  const rows = Math.ceil(vertices / CAPTURE_WIDTH);
  material.depthTest = false;
  material.toneMapped = false;
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace(
        'void main() {',
        `attribute float captureIndex;\nvarying vec3 vCapture;\nuniform float captureHeight;\nvoid main() {`,
      )
      .replace(
        /#include <project_vertex>/,
        `#include <project_vertex>
        vec4 captured = vec4( transformed, 1.0 );
        #ifdef USE_INSTANCING
          captured = instanceMatrix * captured;
          float captureRow = float( gl_InstanceID ) * ${rows.toFixed(1)};
        #else
          float captureRow = 0.0;
        #endif
        captured = modelMatrix * captured;
        vCapture = ${expression};
        captureRow += floor( captureIndex / ${CAPTURE_WIDTH.toFixed(1)} );
        vec2 capturePixel = vec2( mod( captureIndex, ${CAPTURE_WIDTH.toFixed(1)} ), captureRow ) + 0.5;
        gl_PointSize = 1.0;
        gl_Position = vec4( capturePixel / vec2( ${CAPTURE_WIDTH.toFixed(1)}, captureHeight ) * 2.0 - 1.0, 0.0, 1.0 );`,
      );
    shader.uniforms.captureHeight = material.userData.captureHeight;
    shader.fragmentShader =
      'varying vec3 vCapture;\nvoid main() {\n  gl_FragColor = vec4( vCapture, 1.0 );\n}';
  };
  // the hook's text is the same for every vertex count
  material.customProgramCacheKey = () => `capture ${rows} ${expression}`;
  material.userData.captureHeight = { value: 1 };
  material.userData.captureRows = rows;
  return material;
}

/** What is drawn to. */
export const CAPTURE_TARGET = {
  type: FloatType,
  format: RGBAFormat,
  minFilter: NearestFilter,
  magFilter: NearestFilter,
  depthBuffer: false,
};

/**
 * Draws `mesh`, whose geometry and material are capture ones, and returns three floats for each vertex of each instance.
 */
export function capture(
  renderer: WebGLRenderer,
  mesh: Mesh,
  vertices: number,
  instances: number,
): Float32Array {
  const material = Array.isArray(mesh.material) ? mesh.material[0] : mesh.material;
  const rows = material.userData.captureRows as number;
  const height = rows * instances;
  material.userData.captureHeight.value = height;

  const target = new WebGLRenderTarget(CAPTURE_WIDTH, height, CAPTURE_TARGET);
  const scene = new Scene();
  const parent = mesh.parent;
  scene.add(mesh);
  scene.updateMatrixWorld(true);
  mesh.frustumCulled = false;
  renderer.setRenderTarget(target);
  renderer.setClearColor(0, 0);
  renderer.clear();
  asPoints(mesh, () => renderer.render(scene, new PerspectiveCamera()));
  const pixels = new Float32Array(CAPTURE_WIDTH * height * 4);
  renderer.readRenderTargetPixels(target, 0, 0, CAPTURE_WIDTH, height, pixels);
  renderer.setRenderTarget(null);
  target.dispose();
  if (parent) parent.add(mesh);
  else scene.remove(mesh);

  return unpack(pixels, rows, vertices, instances);
}

/** Three floats for each vertex of each instance, out of the pixels of a capture. */
export function unpack(
  pixels: Float32Array,
  rows: number,
  vertices: number,
  instances: number,
): Float32Array {
  const out = new Float32Array(vertices * instances * 3);
  for (let instance = 0; instance < instances; instance++) {
    for (let vertex = 0; vertex < vertices; vertex++) {
      const pixel = (instance * rows * CAPTURE_WIDTH + vertex) * 4;
      if (pixels[pixel + 3] !== 1)
        throw new Error(`capture: vertex ${vertex} of instance ${instance} was not drawn`);
      const at = (instance * vertices + vertex) * 3;
      out[at] = pixels[pixel];
      out[at + 1] = pixels[pixel + 1];
      out[at + 2] = pixels[pixel + 2];
    }
  }
  return out;
}
