import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
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
 * The geometry as one tiny triangle per vertex, each of which covers the pixel that stands for the vertex. So whatever
 * a material's vertex shader makes of a vertex can be read back from a float render target.
 */
export function captureGeometry(source: BufferGeometry): BufferGeometry {
  const count = source.getAttribute('position').count;
  const geometry = new BufferGeometry();
  geometry.morphTargetsRelative = source.morphTargetsRelative;
  const triple = (attribute: { itemSize: number; getComponent(i: number, j: number): number }) => {
    const array = new Float32Array(count * 3 * attribute.itemSize);
    for (let i = 0; i < count * 3; i++) {
      for (let j = 0; j < attribute.itemSize; j++) {
        array[i * attribute.itemSize + j] = attribute.getComponent(Math.floor(i / 3), j);
      }
    }
    return new BufferAttribute(array, attribute.itemSize);
  };
  for (const [name, attribute] of Object.entries(source.attributes)) {
    if (name.startsWith('instance')) continue;
    geometry.setAttribute(name, triple(attribute as BufferAttribute));
  }
  for (const [name, attributes] of Object.entries(source.morphAttributes)) {
    geometry.morphAttributes[name as 'position'] = attributes.map((attribute) =>
      triple(attribute as BufferAttribute),
    );
  }
  const corner = new Float32Array(count * 9);
  const corners = [-0.4, -0.4, 0.4, -0.4, 0, 0.4];
  for (let i = 0; i < count * 3; i++) {
    corner[i * 3] = Math.floor(i / 3);
    corner[i * 3 + 1] = corners[(i % 3) * 2];
    corner[i * 3 + 2] = corners[(i % 3) * 2 + 1];
  }
  geometry.setAttribute('captureCorner', new BufferAttribute(corner, 3));
  return geometry;
}

/** A material that writes what `expression` (a vec3 of the vertex shader) is for each vertex; by default its world position. */
export function captureMaterial(
  vertices: number,
  expression = 'captured.xyz',
  material: Material = new MeshBasicMaterial(),
): Material {
  const rows = Math.ceil(vertices / CAPTURE_WIDTH);
  material.side = DoubleSide;
  material.depthTest = false;
  material.toneMapped = false;
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace(
        'void main() {',
        `attribute vec3 captureCorner;\nvarying vec3 vCapture;\nuniform float captureHeight;\nvoid main() {`,
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
        captureRow += floor( captureCorner.x / ${CAPTURE_WIDTH.toFixed(1)} );
        vec2 capturePixel = vec2( mod( captureCorner.x, ${CAPTURE_WIDTH.toFixed(1)} ), captureRow ) + 0.5 + captureCorner.yz;
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

/**
 * Draws `mesh`, whose geometry and material are capture ones, and returns three floats for each vertex of each instance.
 */
export function capture(
  renderer: WebGLRenderer,
  mesh: Mesh,
  vertices: number,
  instances: number,
): Float32Array {
  const material = (Array.isArray(mesh.material) ? mesh.material[0] : mesh.material) as Material;
  const rows = material.userData.captureRows as number;
  const height = rows * instances;
  material.userData.captureHeight.value = height;

  const target = new WebGLRenderTarget(CAPTURE_WIDTH, height, {
    type: FloatType,
    format: RGBAFormat,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
    depthBuffer: false,
  });
  const scene = new Scene();
  const parent = mesh.parent;
  scene.add(mesh);
  scene.updateMatrixWorld(true);
  mesh.frustumCulled = false;
  renderer.setRenderTarget(target);
  renderer.setClearColor(0, 0);
  renderer.clear();
  renderer.render(scene, new PerspectiveCamera());
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
      out.set(pixels.subarray(pixel, pixel + 3), (instance * vertices + vertex) * 3);
    }
  }
  return out;
}
