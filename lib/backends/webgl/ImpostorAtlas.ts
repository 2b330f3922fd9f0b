import {
  Color,
  DataTexture,
  DoubleSide,
  FloatType,
  GLSL3,
  LinearMipmapLinearFilter,
  type Material,
  Matrix4,
  Mesh,
  NearestFilter,
  NoBlending,
  OrthographicCamera,
  PlaneGeometry,
  RGBAFormat,
  Scene,
  ShaderMaterial,
  UnsignedShort5551Type,
  type Vector2,
  Vector3,
  type WebGLProgramParametersWithUniforms,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { impostorFragmentGLSL, resolveTilesGLSL, tileFragmentGLSL } from '../../../shaders/impostor.glsl.js';
import type { BakedClip } from '../../animation/ClipTable.js';
import { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import {
  AZIMUTHS,
  DIRECTIONS,
  ENTRY_TEXELS,
  FIRST_ENTRY,
  PHASES,
  RINGS,
  TILE_TEXELS,
} from '../../features/impostors/atlasLayout.js';
import type { ImpostorOptions, Tiles } from '../../features/impostors/Impostor.js';
import { hasTexture } from './WebGLPoses.js';

/** Texels that a row of blocks takes at most. */
const MAX_WIDTH = 2048;
/** Room around the character on a tile. */
const MARGIN = 1.06;
/** Tiles are drawn so many times as large, and then resolved. */
const SCALE = 2;

/** A clip in the atlas; null for the rest pose. */
interface Entry {
  clip: BakedClip | null;
  first: number;
  phases: number;
}

const _side = /*@__PURE__*/ new Vector3();
const _up = /*@__PURE__*/ new Vector3();
const _front = /*@__PURE__*/ new Vector3();
const _middle = /*@__PURE__*/ new Vector3();
const _half = /*@__PURE__*/ new Vector3();
const _extent = /*@__PURE__*/ new Vector3();
const _matrix = /*@__PURE__*/ new Matrix4();
const _color = /*@__PURE__*/ new Color();

/** Pictures of a crowd's character in phases of its clips from all directions, which `WebGLRenderer` draws, a block of tiles a frame. */
export class ImpostorAtlas implements Tiles {
  isReady = false;
  readonly material: Material;
  /** See `atlasLayout`. */
  readonly table: DataTexture;
  private readonly uniforms = {
    impostorColors: { value: null as WebGLRenderTarget['texture'] | null },
    impostorShapes: { value: null as WebGLRenderTarget['texture'] | null },
  };
  private target: WebGLRenderTarget | null = null;
  private studio: Studio | null = null;
  private entries: Entry[] = [];
  private perRow = 1;
  private tile = { width: 0, height: 0 };
  private blocks = 0;
  private done = 0;
  private renderer: WeakRef<WebGLRenderer> | null = null;
  /** What it was made of. */
  private made: unknown[] = [];

  constructor(
    private readonly crowd: SkinnedInstancedMesh,
    private readonly options: ImpostorOptions,
  ) {
    this.material = options.material?.clone() ?? materialFor(materialsOf(crowd)[0]);
    this.dress(this.material, false);
    const { clips } = this;
    const width = FIRST_ENTRY + (1 + clips.length) * ENTRY_TEXELS;
    this.table = new DataTexture(new Float32Array(width * 4), width, 1, RGBAFormat, FloatType);
    this.table.magFilter = this.table.minFilter = NearestFilter;
    this.plan();
  }

  get byteLength(): number {
    const { target } = this;
    // Two and four bytes a texel, and a third of that for smaller ones.
    return target === null ? 0 : Math.ceil(target.width * target.height * 6 * (4 / 3));
  }

  dress(material: Material, isShadow: boolean): void {
    material.onBeforeCompile = (parameters: WebGLProgramParametersWithUniforms) => {
      Object.assign(parameters.uniforms, this.uniforms);
      parameters.fragmentShader = impostorFragmentGLSL(parameters.fragmentShader, isShadow);
    };
    material.customProgramCacheKey = () => `impostor ${isShadow}`;
  }

  advance(renderer: WebGLRenderer): void {
    const { target, done } = this;
    const isLost = done > 0 && target !== null && !hasTexture(target.textures[0], renderer);
    if (isLost || this.renderer?.deref() !== renderer || this.hasChanged()) {
      this.renderer = new WeakRef(renderer);
      this.plan();
    }
    if (this.isReady) return;
    this.drawBlock(renderer, this.done++);
    if (this.done < this.blocks) return;
    this.isReady = true;
    this.studio?.dispose();
    this.studio = null;
  }

  refresh(): void {
    this.plan();
  }

  dispose(): void {
    this.isReady = false;
    this.studio?.dispose();
    this.studio = null;
    this.target?.dispose();
    this.target = null;
    this.table.dispose();
    this.material.dispose();
  }

  private get clips(): readonly BakedClip[] {
    const { clips, clipTable } = this.crowd.boneTexture;
    return this.options.clips?.map((clip) => clips[clipTable.indexOf(clip)]) ?? clips;
  }

  private hasChanged(): boolean {
    const { crowd, made } = this;
    const { material } = crowd;
    const count = Array.isArray(material) ? material.length : 1;
    if (made[0] !== crowd.geometry || made[1] !== crowd.boneTexture || made.length !== count + 2) return true;
    for (let i = 0; i < count; i++)
      if (made[i + 2] !== (Array.isArray(material) ? material[i] : material)) return true;
    return false;
  }

  /** Finds out where tiles lie, and begins to draw them anew. */
  private plan(): void {
    const { crowd } = this;
    this.made = [crowd.geometry, crowd.boneTexture, ...materialsOf(crowd)];
    this.isReady = false;
    this.done = 0;
    this.studio?.dispose();
    this.studio = null;

    this.entries = [];
    let first = 0;
    for (const clip of [null, ...this.clips]) {
      const phases = clip === null ? 1 : Math.min(PHASES, clip.count);
      this.entries.push({ clip, first, phases });
      first += phases;
    }
    this.blocks = first;

    let wide = 0;
    let high = 0;
    for (const entry of this.entries) {
      for (let i = 0; i < DIRECTIONS; i++) {
        const extent = this.extentOf(entry, i);
        wide += extent.x;
        high += extent.y;
      }
    }
    const aspect = Math.min(3, Math.max(1 / 3, wide / high));
    const height = Math.round(Math.sqrt(TILE_TEXELS / aspect));
    const width = Math.round(TILE_TEXELS / height);
    this.tile = { width, height };
    const most = Math.max(1, Math.floor(MAX_WIDTH / (width * AZIMUTHS)));
    const rows = Math.ceil(first / most);
    this.perRow = Math.ceil(first / rows);
    this.resize(this.perRow * AZIMUTHS * width, rows * RINGS.length * height);
    this.writeTable(width / height);
  }

  private resize(width: number, height: number): void {
    const { target, uniforms } = this;
    if (target?.width === width && target.height === height) {
      for (const texture of target.textures) texture.generateMipmaps = false;
      return;
    }
    target?.dispose();
    const made = new WebGLRenderTarget(width, height, {
      count: 2,
      depthBuffer: false,
      minFilter: LinearMipmapLinearFilter,
    });
    const [colors, shapes] = made.textures;
    colors.type = UnsignedShort5551Type;
    uniforms.impostorColors.value = colors;
    uniforms.impostorShapes.value = shapes;
    this.target = made;
  }

  /** The box around a clip as seen from a direction: its middle in `_middle`, half its size is returned. */
  private extentOf({ clip }: Entry, direction: number): Vector3 {
    const { data } = this.crowd.boneTexture;
    const [x0, y0, z0, x1, y1, z1] = clip?.bounds ?? data.restBounds;
    setAxes(direction);
    _half.set(x1 - x0, y1 - y0, z1 - z0).multiplyScalar(0.5);
    const middle = _extent.set(x0 + x1, y0 + y1, z0 + z1).multiplyScalar(0.5);
    _middle.set(middle.dot(_side), middle.dot(_up), middle.dot(_front));
    return _extent.set(across(_side), across(_up), across(_front));
  }

  private writeTable(aspect: number): void {
    const { table, entries, perRow, tile, target } = this;
    const numbers = table.image.data as Float32Array;
    const { width, height } = target as WebGLRenderTarget;
    numbers.set([entries.length, perRow, tile.width / width, tile.height / height]);
    const [x0, y0, z0, x1, y1, z1] = this.crowd.boneTexture.data.restBounds;
    numbers.set([aspect, (x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2], 4);
    let at = FIRST_ENTRY * 4;
    for (const entry of entries) {
      let depth = 0;
      for (let i = 0; i < DIRECTIONS; i++) {
        const extent = this.extentOf(entry, i);
        const half = Math.max(extent.y, extent.x / aspect, 1e-6) * MARGIN;
        numbers.set([_middle.x, _middle.y, _middle.z, half], at + (1 + i) * 4);
        depth = Math.max(depth, (extent.z / half) * MARGIN);
      }
      numbers.set([entry.clip?.start ?? 0, entry.first, entry.phases, depth], at);
      at += ENTRY_TEXELS * 4;
    }
    table.needsUpdate = true;
  }

  /** Draws one phase of a clip from all directions. */
  private drawBlock(renderer: WebGLRenderer, block: number): void {
    const { xr, info, autoClear } = renderer;
    const { enabled } = xr;
    const { autoReset } = info;
    const target = renderer.getRenderTarget();
    const face = renderer.getActiveCubeFace();
    const mipmap = renderer.getActiveMipmapLevel();
    const alpha = renderer.getClearAlpha();
    const color = renderer.getClearColor(_color).getHex();
    xr.enabled = info.autoReset = false;
    try {
      this.studio ??= new Studio(this.crowd, this.tile, this.options.instance ?? 0);
      renderer.setClearColor(0, 0);
      renderer.autoClear = true;
      this.pose(this.studio, block);
      this.studio.shoot(renderer);
      renderer.autoClear = false;
      this.resolve(renderer, this.studio, block);
    } finally {
      xr.enabled = enabled;
      info.autoReset = autoReset;
      renderer.autoClear = autoClear;
      renderer.setClearColor(color, alpha);
      renderer.setRenderTarget(target, face, mipmap);
    }
  }

  private pose({ crowd, camera }: Studio, block: number): void {
    const { entries, tile, table } = this;
    let number = entries.length - 1;
    while (entries[number].first > block) number--;
    const { clip, first, phases } = entries[number];
    const numbers = table.image.data as Float32Array;
    const at = (FIRST_ENTRY + number * ENTRY_TEXELS) * 4;
    const aspect = tile.width / tile.height;
    for (let i = 0; i < DIRECTIONS; i++) {
      const [x, y, z, half] = numbers.subarray(at + (1 + i) * 4);
      const gridX = ((i % AZIMUTHS) * 2 + 1) * aspect;
      const gridY = Math.floor(i / AZIMUTHS) * 2 + 1;
      setAxes(i);
      _matrix.makeBasis(_side, _up, _front).transpose();
      _matrix.setPosition(-x, -y, -z).premultiply(_scale.makeScale(1 / half, 1 / half, 1 / half));
      _matrix.premultiply(_scale.makeTranslation(gridX, gridY, 0));
      crowd.setMatrixAt(i, _matrix);
    }
    crowd.instanceMatrix.needsUpdate = true;
    const depth = numbers[at + 3];
    camera.right = AZIMUTHS * 2 * aspect;
    camera.top = RINGS.length * 2;
    camera.near = -depth;
    camera.far = depth;
    camera.updateProjectionMatrix();
    if (clip === null) crowd.stop(crowd.all);
    else crowd.playAll(clip.name, { time: (clip.duration * (block - first + 0.5)) / phases, timeScale: 0 });
    crowd.update(0);
  }

  private resolve(renderer: WebGLRenderer, { quad, small }: Studio, block: number): void {
    const { tile, perRow, blocks } = this;
    const target = this.target as WebGLRenderTarget;
    const width = tile.width * AZIMUTHS;
    const height = tile.height * RINGS.length;
    const x = (block % perRow) * width;
    const y = Math.floor(block / perRow) * height;
    if (block === blocks - 1) for (const texture of target.textures) texture.generateMipmaps = true;
    target.viewport.set(x, y, width, height);
    target.scissor.copy(target.viewport);
    target.scissorTest = true;
    (quad.material.uniforms.corner.value as Vector2 | { x: number; y: number }) = { x, y };
    renderer.setRenderTarget(target);
    renderer.render(quad, small);
  }
}

const _scale = /*@__PURE__*/ new Matrix4();

/** A stage on which the character is drawn from all directions at once. */
class Studio {
  readonly crowd: SkinnedInstancedMesh;
  readonly camera = new OrthographicCamera(0, 1, 1, 0);
  readonly small = new OrthographicCamera();
  readonly quad: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly scene = new Scene();
  private readonly target: WebGLRenderTarget;

  constructor(source: SkinnedInstancedMesh, tile: { width: number; height: number }, instance: number) {
    const { geometry, material, boneTexture, morphTargetInfluences } = source;
    const shown = geometry.clone();
    hideParts(shown, source, instance);
    const materials = Array.isArray(material) ? material.map(tileMaterial) : tileMaterial(material);
    this.crowd = new SkinnedInstancedMesh(shown, materials, boneTexture, DIRECTIONS);
    this.crowd.perObjectFrustumCulled = this.crowd.frustumCulled = false;
    if (morphTargetInfluences) this.crowd.morphTargetInfluences = [...morphTargetInfluences];
    shown.dispose();
    this.scene.add(this.crowd);
    this.target = new WebGLRenderTarget(tile.width * AZIMUTHS * SCALE, tile.height * RINGS.length * SCALE, {
      count: 2,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    const [colors, shapes] = this.target.textures;
    this.quad = new Mesh(
      new PlaneGeometry(2, 2),
      new ShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: 'void main() { gl_Position = vec4( position.xy, 0.0, 1.0 ); }',
        fragmentShader: resolveTilesGLSL,
        uniforms: { colors: { value: colors }, shapes: { value: shapes }, corner: { value: null } },
        depthTest: false,
        depthWrite: false,
        blending: NoBlending,
      }),
    );
    this.quad.frustumCulled = false;
  }

  shoot(renderer: WebGLRenderer): void {
    renderer.setRenderTarget(this.target);
    renderer.render(this.scene, this.camera);
  }

  dispose(): void {
    const { crowd, quad, target } = this;
    for (const material of materialsOf(crowd)) material.dispose();
    crowd.dispose();
    quad.geometry.dispose();
    quad.material.dispose();
    target.dispose();
  }
}

const materialsOf = ({ material }: Pick<SkinnedInstancedMesh, 'material'>): Material[] =>
  Array.isArray(material) ? material : [material];

/** The axes of the tiles of a direction. */
function setAxes(direction: number): void {
  const azimuth = ((direction % AZIMUTHS) * 2 * Math.PI) / AZIMUTHS;
  const elevation = (RINGS[Math.floor(direction / AZIMUTHS)] * Math.PI) / 180;
  _front.setFromSphericalCoords(1, Math.PI / 2 - elevation, azimuth);
  _side.set(Math.cos(azimuth), 0, -Math.sin(azimuth));
  _up.crossVectors(_front, _side);
}

const across = ({ x, y, z }: Vector3): number =>
  Math.abs(x) * _half.x + Math.abs(y) * _half.y + Math.abs(z) * _half.z;

/** Leaves out triangles of parts that an instance does not show. */
function hideParts(
  geometry: SkinnedInstancedMesh['geometry'],
  { parts }: SkinnedInstancedMesh,
  instance: number,
): void {
  const numbers = geometry.getAttribute('partIndex');
  const { index } = geometry;
  if (parts === null || numbers === undefined || index === null) return;
  for (let i = 0; i < index.count; i += 3)
    if (!parts.isShown(instance, numbers.getX(index.getX(i))))
      for (let k = 1; k < 3; k++) index.setX(i + k, index.getX(i));
}

/** A material that writes what a tile holds of another one. */
function tileMaterial(source: Material): Material {
  if (!('color' in source)) {
    throw new Error(
      `An impostor shows three.js's own materials; "${source.name || source.type}" is none. Use a level of fewer triangles instead.`,
    );
  }
  const made = source.clone();
  const { userHook = source.onBeforeCompile } = source.onBeforeCompile as {
    userHook?: Material['onBeforeCompile'];
  };
  made.onBeforeCompile = (parameters, renderer) => {
    userHook.call(source, parameters, renderer);
    parameters.fragmentShader = tileFragmentGLSL(parameters.fragmentShader);
  };
  made.customProgramCacheKey = () => `tile ${userHook}`;
  made.transparent = made.alphaToCoverage = made.alphaHash = false;
  made.blending = NoBlending;
  if (source.transparent) made.alphaTest ||= 0.5;
  return made;
}

/** A material of the same kind, without textures and colours: those are in the tiles. */
function materialFor(source: Material): Material {
  const made = source.clone() as Material & Record<string, unknown>;
  for (const key of Object.keys(made))
    if ((made[key] as { isTexture?: boolean } | null)?.isTexture) made[key] = null;
  (made.color as Color | undefined)?.set(0xffffff);
  (made.emissive as Color | undefined)?.set(0);
  made.vertexColors = made.transparent = made.alphaToCoverage = made.alphaHash = made.flatShading = false;
  made.opacity = 1;
  made.alphaTest = 0;
  // three.js would have the wrong side cast shadows.
  made.side = DoubleSide;
  return made;
}
