import {
  Box3,
  type BufferGeometry,
  type Material,
  Matrix4,
  Mesh,
  NearestFilter,
  NoBlending,
  OrthographicCamera,
  PlaneGeometry,
  Scene,
  Vector3,
  WebGLRenderTarget,
} from 'three';
import { AZIMUTHS, DIRECTIONS, RINGS } from '../../../shaders/atlasLayout.js';
import { boxesOf } from '../../animation/jointBoxes.js';
import type { CrowdMesh } from '../../crowd/CrowdMesh.js';
import { getSkinningMatrix } from '../../crowd/poseQueries.js';
import { SkinnedInstancedMesh } from '../../crowd/SkinnedInstancedMesh.js';
import { cornersOf } from '../../utils/geometries.js';
import type { TilePrinter } from './TilePrinter.js';

/** Tiles are drawn so many times as large, and then resolved. */
const SCALE = 2;

const _side = /*@__PURE__*/ new Vector3();
const _up = /*@__PURE__*/ new Vector3();
const _front = /*@__PURE__*/ new Vector3();
const _point = /*@__PURE__*/ new Vector3();
const _matrix = /*@__PURE__*/ new Matrix4();
const _move = /*@__PURE__*/ new Matrix4();

/** A stage on which the character is drawn from all directions at once. */
export class TileStage {
  /** An instance for each direction. */
  readonly crowd: SkinnedInstancedMesh;
  readonly scene = new Scene();
  readonly camera = new OrthographicCamera(0, 1, 1, 0);
  readonly target: WebGLRenderTarget;
  /** Draws what was drawn half as large, for `small`. */
  readonly quad: Mesh<PlaneGeometry, Material>;
  readonly small = new OrthographicCamera();
  private boxes: Float32Array | null = null;

  constructor(source: SkinnedInstancedMesh, instance: number, printer: TilePrinter, hasParts: boolean) {
    const { geometry, material, boneTexture, morphTargetInfluences } = source;
    const shown = geometry.clone();
    hideParts(shown, source, instance);
    const copy = (one: Material) => copyForTiles(one, printer, hasParts);
    const materials = Array.isArray(material) ? material.map(copy) : copy(material);
    this.crowd = new SkinnedInstancedMesh(shown, materials, boneTexture, DIRECTIONS);
    this.crowd.perObjectFrustumCulled = this.crowd.frustumCulled = false;
    if (morphTargetInfluences) this.crowd.morphTargetInfluences = [...morphTargetInfluences];
    shown.dispose();
    this.scene.add(this.crowd);
    const filters = { minFilter: NearestFilter, magFilter: NearestFilter } as const;
    this.target = new WebGLRenderTarget(1, 1, { count: 3, ...filters });
    nameTiles(this.target);
    this.quad = new Mesh(new PlaneGeometry(2, 2), printer.createResolve(this.target.textures, hasParts));
    this.quad.frustumCulled = false;
  }

  resize(width: number, height: number): void {
    this.target.setSize(width * AZIMUTHS * SCALE, height * RINGS.length * SCALE);
  }

  /** How large the character is in its pose, along the axes of each direction. */
  measure(): { middle: Vector3; half: Vector3 }[] {
    const { crowd } = this;
    const { boneTexture, geometry } = crowd;
    this.boxes ??= boxesOf(geometry, boneTexture.jointNames.length);
    const { boxes } = this;
    const list = Array.from({ length: DIRECTIONS }, () => new Box3());
    for (let joint = 0; joint * 6 < boxes.length; joint++) {
      const box = boxes.subarray(joint * 6);
      if (box[0] > box[3]) continue;
      const corners = cornersOf(box, getSkinningMatrix(crowd, 0, joint, _matrix));
      for (let i = 0; i < DIRECTIONS; i++) {
        setAxes(i);
        for (const corner of corners)
          list[i].expandByPoint(_point.set(corner.dot(_side), corner.dot(_up), corner.dot(_front)));
      }
    }
    return list.map((box) => ({
      middle: box.getCenter(new Vector3()),
      half: box.getSize(new Vector3()).multiplyScalar(0.5),
    }));
  }

  /**
   * Shows the character to the camera from each direction on a tile of its own.
   *
   * @param row That of a block in the table, see `atlasLayout`.
   * @param aspect Of a tile.
   */
  place(row: Float32Array, aspect: number): void {
    const { crowd, camera } = this;
    for (let i = 0; i < DIRECTIONS; i++) {
      const [x, y, z, size] = row.subarray((1 + i) * 4);
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
    camera.near = -row[0];
    camera.far = row[0];
    camera.updateProjectionMatrix();
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

/** Names by which node materials find the textures of a target. */
export function nameTiles({ textures }: WebGLRenderTarget): void {
  for (let i = 0; i < textures.length; i++) textures[i].name = ['output', 'shape', 'part'][i];
}

export const materialsOf = ({ material }: Pick<CrowdMesh, 'material'>): Material[] =>
  Array.isArray(material) ? material : [material];

/** The axes of the tiles of a direction. */
function setAxes(direction: number): void {
  const azimuth = ((direction % AZIMUTHS) * 2 * Math.PI) / AZIMUTHS;
  const elevation = (RINGS[Math.floor(direction / AZIMUTHS)] * Math.PI) / 180;
  _front.setFromSphericalCoords(1, Math.PI / 2 - elevation, azimuth);
  _side.set(Math.cos(azimuth), 0, -Math.sin(azimuth));
  _up.crossVectors(_front, _side);
}

/** Leaves out triangles of parts that an instance does not show. */
function hideParts(geometry: BufferGeometry, { parts }: SkinnedInstancedMesh, instance: number): void {
  const numbers = geometry.getAttribute('partIndex');
  const { index } = geometry;
  if (parts === null || numbers === undefined || index === null) return;
  for (let i = 0; i < index.count; i += 3)
    if (!parts.isShown(instance, numbers.getX(index.getX(i))))
      for (let k = 1; k < 3; k++) index.setX(i + k, index.getX(i));
}

/** A material that writes what a tile holds of another one. */
function copyForTiles(source: Material, printer: TilePrinter, hasParts: boolean): Material {
  if (!('color' in source)) {
    throw new Error(
      `An impostor shows three.js's own materials; "${source.name || source.type}" is none. Use a level of fewer triangles instead.`,
    );
  }
  const copy = source.clone();
  printer.dressTile(copy, source, hasParts);
  copy.transparent = copy.alphaToCoverage = copy.alphaHash = false;
  copy.blending = NoBlending;
  if (source.transparent) copy.alphaTest ||= 0.5;
  return copy;
}
