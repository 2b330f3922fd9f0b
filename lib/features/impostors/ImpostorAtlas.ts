import {
  type Color,
  DataTexture,
  DoubleSide,
  FloatType,
  LinearMipmapLinearFilter,
  type Material,
  NearestFilter,
  RedFormat,
  RGBAFormat,
  UnsignedByteType,
  Vector2,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { AZIMUTHS, BLOCK_TEXELS, FIRST_ENTRY, PHASES, RINGS } from '../../../shaders/atlasLayout.js';
import type { BakedClip, ClipReference } from '../../animation/ClipTable.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import type { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { printerOf, printers, type ShownTiles, type TilePrinter } from './TilePrinter.js';
import { materialsOf, nameTiles, TileStage } from './TileStage.js';

/** What an impostor shows. */
export interface ImpostorOptions {
  /** Clips that have tiles; whoever plays another one shows the first of these. @default all, of which there may be eight */
  clips?: readonly ClipReference[];
  /** The instance whose parts all show. @default 0 */
  instance?: number;
  /** One of three.js's materials, of which a copy lights the tiles. @default like the crowd's first */
  material?: Material;
}

/** Texels that a row of blocks takes at most. */
const MAX_WIDTH = 2048;
/** Room around the character on a tile. */
const MARGIN = 1.06;

/** Pictures of a crowd's character in phases of its clips from all directions, which a renderer draws, a block of tiles a frame. */
export class ImpostorAtlas implements ShownTiles {
  /** Whether all are drawn. */
  isReady = false;
  readonly material: Material;
  /** See `atlasLayout`; null until it is known where tiles lie. */
  table: DataTexture | null = null;
  readonly uniforms: ShownTiles['uniforms'] = {
    impostorColors: { value: null },
    impostorShapes: { value: null },
    impostorParts: { value: null },
    impostorPartColors: { value: null },
    impostorPartLayout: { value: new Vector2() },
  };
  private target: WebGLRenderTarget | null = null;
  private stage: TileStage | null = null;
  /** Clips in the atlas; null for the rest pose. */
  private entries: { clip: BakedClip | null; first: number; phases: number }[] = [];
  private perRow = 1;
  private tile = new Vector2();
  private blocks = 0;
  private done = 0;
  private renderer: WeakRef<object> | null = null;
  private printer!: TilePrinter;
  /** What it was made of. */
  private made: unknown[] = [];
  /** Parts that instances colour; 0 if they colour none. */
  private parts = 0;

  constructor(
    readonly crowd: SkinnedInstancedMesh,
    private readonly options: ImpostorOptions,
  ) {
    this.material = options.material?.clone() ?? materialFor(materialsOf(crowd)[0]);
    this.dress(this.material, false);
  }

  get hasParts(): boolean {
    return this.parts > 0;
  }

  /** Bytes on the GPU. */
  get byteLength(): number {
    const { target, printer } = this;
    if (target === null) return 0;
    const colors = printer.colorType === UnsignedByteType ? 4 : 2;
    // A third of them again for smaller ones; one for the part.
    return Math.ceil(
      target.width * target.height * ((colors + 4) * (4 / 3) + (target.textures.length === 3 ? 1 : 0)),
    );
  }

  /** Lets a material show the tiles. */
  dress(material: Material, isShadow: boolean): void {
    const { customProgramCacheKey } = Object.getPrototypeOf(material) as Material;
    for (const printer of printers) printer.dress(material, this, isShadow);
    material.customProgramCacheKey = () =>
      `impostor ${isShadow} ${this.hasParts} ${customProgramCacheKey.call(material)}`;
  }

  /** Draws some more of them; call it once a frame. */
  advance(renderer: WebGLRenderer): void {
    const { target, done, uniforms } = this;
    const { parts } = this.crowd;
    const isOther = this.renderer?.deref() !== renderer;
    if (isOther) {
      this.renderer = new WeakRef(renderer);
      this.printer = printerOf(renderer);
    }
    const { printer } = this;
    if (parts !== null) {
      parts.texture.prepare(renderer);
      uniforms.impostorPartColors.value = printer.numbersOf(parts.texture);
      uniforms.impostorPartLayout.value.set(parts.count, parts.texture.perRow);
    }
    const isLost = done > 0 && target !== null && !printer.has(target.textures[0], renderer);
    const { made, sources } = this;
    const hasChanged = made.length !== sources.length || made.some((one, i) => one !== sources[i]);
    if (isOther || isLost || hasChanged) this.refresh();
    if (this.isReady) return;
    this.stage ??= this.plan();
    const leave = printer.enter(renderer);
    if (leave === null) return;
    try {
      this.drawBlock(renderer, this.stage, this.done++);
    } finally {
      leave();
    }
    if (this.done < this.blocks) return;
    this.isReady = true;
    this.closeStage();
  }

  /** Draws them anew. */
  refresh(): void {
    this.isReady = false;
    this.done = 0;
    this.closeStage();
  }

  dispose(): void {
    this.refresh();
    this.target?.dispose();
    this.target = null;
    this.table?.dispose();
    this.material.dispose();
  }

  private closeStage(): void {
    this.stage?.dispose();
    this.stage = null;
  }

  private get clips(): readonly BakedClip[] {
    const { clips, clipTable } = this.crowd.boneTexture;
    return this.options.clips?.map((clip) => clipTable.find(clip)) ?? clips;
  }

  /** What tiles are made of. */
  private get sources(): unknown[] {
    const { crowd } = this;
    return [partsOf(crowd), crowd.geometry, crowd.boneTexture, ...materialsOf(crowd)];
  }

  /** Finds out where tiles lie. */
  private plan(): TileStage {
    const { crowd, options, printer } = this;
    this.made = this.sources;
    if (this.parts !== partsOf(crowd)) this.material.needsUpdate = true;
    this.parts = partsOf(crowd);
    this.entries = [];
    this.blocks = 0;
    for (const clip of [null, ...this.clips]) {
      const phases = clip === null ? 1 : Math.min(PHASES, clip.count);
      this.entries.push({ clip, first: this.blocks, phases });
      this.blocks += phases;
    }
    const stage = new TileStage(crowd, options.instance ?? 0, printer, this.hasParts);
    const extents = Array.from({ length: this.blocks }, (_, block) => {
      this.play(stage, block);
      return stage.measure();
    });
    const all = new Vector2();
    for (const { half } of extents.flat()) all.add(half);
    const aspect = Math.min(3, Math.max(1 / 3, all.x / all.y));
    const height = Math.round(Math.sqrt(printer.tileTexels / aspect));
    const width = Math.round(printer.tileTexels / height);
    this.tile.set(width, height);
    const most = Math.max(1, Math.floor(MAX_WIDTH / (width * AZIMUTHS)));
    const rows = Math.ceil(this.blocks / most);
    this.perRow = Math.ceil(this.blocks / rows);
    this.createTarget(this.perRow * AZIMUTHS * width, rows * RINGS.length * height);
    stage.resize(width, height);
    this.writeTable(extents);
    return stage;
  }

  private createTarget(width: number, height: number): void {
    const { uniforms, hasParts, printer } = this;
    this.target?.dispose();
    this.target = new WebGLRenderTarget(width, height, {
      count: hasParts ? 3 : 2,
      depthBuffer: false,
      minFilter: LinearMipmapLinearFilter,
    });
    const [colors, shapes, parts = null] = this.target.textures;
    colors.type = printer.colorType;
    nameTiles(this.target);
    if (parts !== null) {
      parts.format = RedFormat;
      parts.minFilter = parts.magFilter = NearestFilter;
    }
    uniforms.impostorColors.value = colors;
    uniforms.impostorShapes.value = shapes;
    uniforms.impostorParts.value = parts;
  }

  private writeTable(extents: readonly ReturnType<TileStage['measure']>[number][][]): void {
    const { entries, perRow, tile, target } = this;
    const { width, height } = target as WebGLRenderTarget;
    const texels = Math.max(BLOCK_TEXELS, FIRST_ENTRY + entries.length);
    const numbers = new Float32Array(texels * (1 + extents.length) * 4);
    const aspect = tile.x / tile.y;
    const [x0, y0, z0, x1, y1, z1] = this.crowd.boneTexture.data.restBounds;
    numbers.set([entries.length, perRow, tile.x / width, tile.y / height]);
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
    this.table.needsUpdate = true;
  }

  private play({ crowd }: TileStage, block: number): void {
    const { clip, first, phases } = this.entries.findLast((entry) => entry.first <= block)!;
    if (clip === null) crowd.stop(crowd.all);
    else crowd.playAll(clip.name, { time: (clip.duration * (block - first + 0.5)) / phases, timeScale: 0 });
    crowd.update(0);
  }

  /** Draws one phase of a clip from all directions. */
  private drawBlock(renderer: WebGLRenderer, stage: TileStage, block: number): void {
    const { tile, perRow, blocks } = this;
    const target = this.target as WebGLRenderTarget;
    const { data, width } = (this.table as DataTexture).image as { data: Float32Array; width: number };
    this.play(stage, block);
    stage.place(data.subarray((block + 1) * width * 4), tile.x / tile.y);
    renderer.autoClear = true;
    renderer.setClearColor(0, 0);
    renderer.setRenderTarget(stage.target);
    renderer.render(stage.scene, stage.camera);

    const w = tile.x * AZIMUTHS;
    const h = tile.y * RINGS.length;
    // WebGPURenderer makes room for smaller ones where it draws the first time.
    const hasMipmaps = block === 0 || block === blocks - 1;
    for (let i = 0; i < 2; i++) target.textures[i].generateMipmaps = hasMipmaps;
    target.viewport.set((block % perRow) * w, Math.floor(block / perRow) * h, w, h);
    target.scissor.copy(target.viewport);
    target.scissorTest = true;
    renderer.autoClear = false;
    renderer.setRenderTarget(target);
    renderer.render(stage.quad, stage.small);
  }
}

const partsOf = ({ parts }: CrowdMesh): number => parts?.count ?? 0;

/** A material of the same kind, without textures, nodes and colours: those are in the tiles. */
function materialFor(source: Material): Material {
  const made = source.clone() as Material & Record<string, unknown>;
  for (const key of Object.keys(made))
    if (key.endsWith('Node') || (made[key] as { isTexture?: boolean } | null)?.isTexture) made[key] = null;
  (made.color as Color | undefined)?.set(0xffffff);
  (made.emissive as Color | undefined)?.set(0);
  made.vertexColors = made.transparent = made.alphaToCoverage = made.alphaHash = made.flatShading = false;
  made.opacity = 1;
  made.alphaTest = 0;
  // three.js would have the wrong side cast shadows.
  made.side = DoubleSide;
  return made;
}
