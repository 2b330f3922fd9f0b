import {
  Box3,
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
  RedFormat,
  RGBAFormat,
  Scene,
  ShaderMaterial,
  UnsignedShort5551Type,
  Vector2,
  Vector3,
  type WebGLProgramParametersWithUniforms,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import {
  impostorFragmentGLSL,
  resolveTilesGLSL,
  tileFragmentGLSL,
  tileVertexGLSL,
} from '../../../shaders/impostor.glsl.js';
import type { BakedClip } from '../../animation/ClipTable.js';
import { growJointBoxes } from '../../animation/jointBoxes.js';
import { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import {
  AZIMUTHS,
  BLOCK_TEXELS,
  DIRECTIONS,
  FIRST_ENTRY,
  PHASES,
  RINGS,
  TILE_TEXELS,
} from '../../features/impostors/atlasLayout.js';
import type { ImpostorOptions, Tiles } from '../../features/impostors/Impostor.js';
import { getSkinningMatrix } from '../../queries/poseQueries.js';
import { mergedCode } from '../surfaceMaps.js';
import { hasTexture } from './WebGLPoses.js';

/** Texels that a row of blocks takes at most. */
const MAX_WIDTH = 2048;
/** Room around the character on a tile. */
const MARGIN = 1.06;
/** Tiles are drawn so many times as large, and then resolved. */
const SCALE = 2;

/** How large the character is as seen from a direction: along the axes of the tile. */
interface Extent {
  middle: Vector3;
  half: Vector3;
}

/** A clip in the atlas; null for the rest pose. */
interface Entry {
  clip: BakedClip | null;
  first: number;
  phases: number;
}

const _side = /*@__PURE__*/ new Vector3();
const _up = /*@__PURE__*/ new Vector3();
const _front = /*@__PURE__*/ new Vector3();
const _point = /*@__PURE__*/ new Vector3();
const _matrix = /*@__PURE__*/ new Matrix4();
const _corner = /*@__PURE__*/ new Vector3();
const _move = /*@__PURE__*/ new Matrix4();
const _color = /*@__PURE__*/ new Color();

/** Pictures of a crowd's character in phases of its clips from all directions, which `WebGLRenderer` draws, a block of tiles a frame. */
export class ImpostorAtlas implements Tiles {
  isReady = false;
  readonly material: Material;
  /** See `atlasLayout`; null until it is known where tiles lie. */
  table: DataTexture | null = null;
  private readonly uniforms = {
    impostorColors: { value: null as WebGLRenderTarget['texture'] | null },
    impostorShapes: { value: null as WebGLRenderTarget['texture'] | null },
    impostorParts: { value: null as WebGLRenderTarget['texture'] | null },
    /** Of instances: parts of each, and instances in a row. */
    impostorPartColors: { value: null as DataTexture | null },
    impostorPartLayout: { value: new Vector2() },
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
  /** Parts that instances colour; 0 if they colour none. */
  private parts = 0;

  constructor(
    private readonly crowd: SkinnedInstancedMesh,
    private readonly options: ImpostorOptions,
  ) {
    this.material = options.material?.clone() ?? materialFor(materialsOf(crowd)[0]);
    this.dress(this.material, false);
  }

  get byteLength(): number {
    const { target } = this;
    if (target === null) return 0;
    // Two and four bytes a texel, and a third of that for smaller ones; one for the part.
    return Math.ceil(target.width * target.height * (6 * (4 / 3) + target.textures.length - 2));
  }

  dress(material: Material, isShadow: boolean): void {
    material.onBeforeCompile = (parameters: WebGLProgramParametersWithUniforms) => {
      Object.assign(parameters.uniforms, this.uniforms);
      parameters.fragmentShader = impostorFragmentGLSL(parameters.fragmentShader, isShadow, this.parts > 0);
    };
    material.customProgramCacheKey = () => `impostor ${isShadow} ${this.parts > 0}`;
  }

  advance(renderer: WebGLRenderer): void {
    const { target, done, uniforms } = this;
    const { parts } = this.crowd;
    if (parts !== null) {
      parts.texture.prepare(renderer, hasTexture);
      uniforms.impostorPartColors.value = parts.texture.plain;
      uniforms.impostorPartLayout.value.set(parts.count, parts.texture.perRow);
    }
    const isLost = done > 0 && target !== null && !hasTexture(target.textures[0], renderer);
    if (isLost || this.renderer?.deref() !== renderer || this.hasChanged()) this.refresh();
    if (this.isReady) return;
    this.renderer = new WeakRef(renderer);
    if (this.studio === null) this.plan();
    this.drawBlock(renderer, this.done++);
    if (this.done < this.blocks) return;
    this.isReady = true;
    this.closeStudio();
  }

  refresh(): void {
    this.isReady = false;
    this.done = 0;
    this.closeStudio();
  }

  dispose(): void {
    this.refresh();
    this.target?.dispose();
    this.target = null;
    this.table?.dispose();
    this.material.dispose();
  }

  private closeStudio(): void {
    this.studio?.dispose();
    this.studio = null;
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
    if (this.parts !== partsOf(crowd)) return true;
    for (let i = 0; i < count; i++)
      if (made[i + 2] !== (Array.isArray(material) ? material[i] : material)) return true;
    return false;
  }

  /** Finds out where tiles lie. */
  private plan(): void {
    const { crowd } = this;
    this.made = [crowd.geometry, crowd.boneTexture, ...materialsOf(crowd)];
    if (this.parts !== partsOf(crowd)) this.material.needsUpdate = true;
    this.parts = partsOf(crowd);
    this.entries = [];
    let blocks = 0;
    for (const clip of [null, ...this.clips]) {
      const phases = clip === null ? 1 : Math.min(PHASES, clip.count);
      this.entries.push({ clip, first: blocks, phases });
      blocks += phases;
    }
    this.blocks = blocks;
    this.studio = new Studio(crowd, this.options.instance ?? 0);

    const extents: Extent[][] = [];
    let wide = 0;
    let high = 0;
    for (let block = 0; block < blocks; block++) {
      this.play(this.studio, block);
      const list = this.studio.measure();
      extents.push(list);
      for (const { half } of list) {
        wide += half.x;
        high += half.y;
      }
    }
    const aspect = Math.min(3, Math.max(1 / 3, wide / high));
    const height = Math.round(Math.sqrt(TILE_TEXELS / aspect));
    const width = Math.round(TILE_TEXELS / height);
    this.tile = { width, height };
    const most = Math.max(1, Math.floor(MAX_WIDTH / (width * AZIMUTHS)));
    const rows = Math.ceil(blocks / most);
    this.perRow = Math.ceil(blocks / rows);
    this.resize(this.perRow * AZIMUTHS * width, rows * RINGS.length * height);
    this.studio.resize(width, height);
    this.writeTable(extents);
  }

  private resize(width: number, height: number): void {
    const { target, uniforms } = this;
    const count = this.parts > 0 ? 3 : 2;
    if (target?.width === width && target.height === height && target.textures.length === count) {
      for (const texture of target.textures) texture.generateMipmaps = false;
      return;
    }
    target?.dispose();
    const made = new WebGLRenderTarget(width, height, {
      count,
      depthBuffer: false,
      minFilter: LinearMipmapLinearFilter,
    });
    const [colors, shapes, parts = null] = made.textures;
    colors.type = UnsignedShort5551Type;
    if (parts !== null) {
      parts.format = RedFormat;
      parts.minFilter = parts.magFilter = NearestFilter;
    }
    uniforms.impostorColors.value = colors;
    uniforms.impostorShapes.value = shapes;
    uniforms.impostorParts.value = parts;
    this.target = made;
  }

  private writeTable(extents: readonly Extent[][]): void {
    const { entries, perRow, tile, target } = this;
    const { width, height } = target as WebGLRenderTarget;
    const texels = Math.max(BLOCK_TEXELS, FIRST_ENTRY + entries.length);
    const numbers = new Float32Array(texels * (1 + extents.length) * 4);
    const aspect = tile.width / tile.height;
    const [x0, y0, z0, x1, y1, z1] = this.crowd.boneTexture.data.restBounds;
    numbers.set([entries.length, perRow, tile.width / width, tile.height / height]);
    numbers.set([aspect, (x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2], 4);
    entries.forEach(({ clip, first, phases }, i) => {
      numbers.set([clip?.start ?? 0, first, phases], (FIRST_ENTRY + i) * 4);
    });
    extents.forEach((list, block) => {
      const at = (block + 1) * texels * 4;
      list.forEach(({ middle, half }, i) => {
        const size = Math.max(half.y, half.x / aspect, 1e-6) * MARGIN;
        numbers.set([middle.x, middle.y, middle.z, size], at + (1 + i) * 4);
        numbers[at] = Math.max(numbers[at], (half.z / size) * MARGIN);
      });
    });
    this.table?.dispose();
    this.table = new DataTexture(numbers, texels, 1 + extents.length, RGBAFormat, FloatType);
    this.table.magFilter = this.table.minFilter = NearestFilter;
    this.table.needsUpdate = true;
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
      const studio = this.studio as Studio;
      renderer.setClearColor(0, 0);
      renderer.autoClear = true;
      this.pose(studio, block);
      studio.shoot(renderer);
      renderer.autoClear = false;
      this.resolve(renderer, studio, block);
    } finally {
      xr.enabled = enabled;
      info.autoReset = autoReset;
      renderer.autoClear = autoClear;
      renderer.setClearColor(color, alpha);
      renderer.setRenderTarget(target, face, mipmap);
    }
  }

  private play({ crowd }: Studio, block: number): void {
    const { entries } = this;
    let number = entries.length - 1;
    while (entries[number].first > block) number--;
    const { clip, first, phases } = entries[number];
    if (clip === null) crowd.stop(crowd.all);
    else crowd.playAll(clip.name, { time: (clip.duration * (block - first + 0.5)) / phases, timeScale: 0 });
    crowd.update(0);
  }

  private pose(studio: Studio, block: number): void {
    const { crowd, camera } = studio;
    const { data, width } = (this.table as DataTexture).image as { data: Float32Array; width: number };
    const at = (block + 1) * width * 4;
    const aspect = this.tile.width / this.tile.height;
    this.play(studio, block);
    for (let i = 0; i < DIRECTIONS; i++) {
      const [x, y, z, size] = data.subarray(at + (1 + i) * 4);
      setAxes(i);
      _matrix.makeBasis(_side, _up, _front).transpose().setPosition(-x, -y, -z);
      _matrix.premultiply(_move.makeScale(1 / size, 1 / size, 1 / size));
      const column = i % AZIMUTHS;
      _move.makeTranslation((column * 2 + 1) * aspect, ((i - column) / AZIMUTHS) * 2 + 1, 0);
      crowd.setMatrixAt(i, _matrix.premultiply(_move));
    }
    crowd.instanceMatrix.needsUpdate = true;
    camera.right = AZIMUTHS * 2 * aspect;
    camera.top = RINGS.length * 2;
    camera.near = -data[at];
    camera.far = data[at];
    camera.updateProjectionMatrix();
  }

  private resolve(renderer: WebGLRenderer, { quad, small }: Studio, block: number): void {
    const { tile, perRow, blocks } = this;
    const target = this.target as WebGLRenderTarget;
    const width = tile.width * AZIMUTHS;
    const height = tile.height * RINGS.length;
    const x = (block % perRow) * width;
    const y = Math.floor(block / perRow) * height;
    if (block === blocks - 1) for (let i = 0; i < 2; i++) target.textures[i].generateMipmaps = true;
    target.viewport.set(x, y, width, height);
    target.scissor.copy(target.viewport);
    target.scissorTest = true;
    quad.material.uniforms.corner.value = { x, y };
    renderer.setRenderTarget(target);
    renderer.render(quad, small);
  }
}

/** A stage on which the character is drawn from all directions at once. */
class Studio {
  readonly crowd: SkinnedInstancedMesh;
  readonly camera = new OrthographicCamera(0, 1, 1, 0);
  readonly small = new OrthographicCamera();
  readonly quad: Mesh<PlaneGeometry, ShaderMaterial>;
  private boxes: Float32Array | null = null;
  private readonly scene = new Scene();
  private readonly target: WebGLRenderTarget;

  constructor(source: SkinnedInstancedMesh, instance: number) {
    const { geometry, material, boneTexture, morphTargetInfluences } = source;
    const shown = geometry.clone();
    hideParts(shown, source, instance);
    const materials = Array.isArray(material) ? material.map(tileMaterial) : tileMaterial(material);
    this.crowd = new SkinnedInstancedMesh(shown, materials, boneTexture, DIRECTIONS);
    this.crowd.perObjectFrustumCulled = this.crowd.frustumCulled = false;
    if (morphTargetInfluences) this.crowd.morphTargetInfluences = [...morphTargetInfluences];
    shown.dispose();
    this.scene.add(this.crowd);
    this.target = new WebGLRenderTarget(1, 1, {
      count: 3,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
    });
    const [colors, shapes, parts] = this.target.textures;
    this.quad = new Mesh(
      new PlaneGeometry(2, 2),
      new ShaderMaterial({
        glslVersion: GLSL3,
        vertexShader: 'void main() { gl_Position = vec4( position.xy, 0.0, 1.0 ); }',
        fragmentShader: resolveTilesGLSL,
        uniforms: {
          colors: { value: colors },
          shapes: { value: shapes },
          parts: { value: parts },
          corner: { value: null },
        },
        depthTest: false,
        depthWrite: false,
        blending: NoBlending,
      }),
    );
    this.quad.frustumCulled = false;
  }

  resize(width: number, height: number): void {
    this.target.setSize(width * AZIMUTHS * SCALE, height * RINGS.length * SCALE);
  }

  /** How large the character is in its pose, along the axes of each direction. */
  measure(): Extent[] {
    const { crowd } = this;
    const { boneTexture, geometry } = crowd;
    if (this.boxes === null) {
      this.boxes = boneTexture.createJointBoxes();
      growJointBoxes(
        this.boxes,
        geometry,
        Int32Array.from(boneTexture.jointNames, (_, i) => i),
        false,
      );
    }
    const { boxes } = this;
    const list = Array.from({ length: DIRECTIONS }, () => new Box3());
    for (let joint = 0; joint * 6 < boxes.length; joint++) {
      const [x0, y0, z0, x1, y1, z1] = boxes.subarray(joint * 6);
      if (x0 > x1) continue;
      getSkinningMatrix(crowd, 0, joint, _matrix);
      for (let i = 0; i < DIRECTIONS; i++) {
        setAxes(i);
        for (let corner = 0; corner < 8; corner++) {
          _point.set(corner & 1 ? x1 : x0, corner & 2 ? y1 : y0, corner & 4 ? z1 : z0).applyMatrix4(_matrix);
          list[i].expandByPoint(_corner.set(_point.dot(_side), _point.dot(_up), _point.dot(_front)));
        }
      }
    }
    return list.map((box) => ({
      middle: box.getCenter(new Vector3()),
      half: box.getSize(new Vector3()).multiplyScalar(0.5),
    }));
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

const partsOf = ({ parts }: SkinnedInstancedMesh): number => parts?.count ?? 0;

/** The axes of the tiles of a direction. */
function setAxes(direction: number): void {
  const azimuth = ((direction % AZIMUTHS) * 2 * Math.PI) / AZIMUTHS;
  const elevation = (RINGS[Math.floor(direction / AZIMUTHS)] * Math.PI) / 180;
  _front.setFromSphericalCoords(1, Math.PI / 2 - elevation, azimuth);
  _side.set(Math.cos(azimuth), 0, -Math.sin(azimuth));
  _up.crossVectors(_front, _side);
}

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
    parameters.vertexShader = tileVertexGLSL(parameters.vertexShader, mergedCode(source) > 0);
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
