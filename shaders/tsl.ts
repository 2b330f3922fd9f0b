import type { BufferGeometry, Camera, Color, Material, Object3D, Scene, Texture } from 'three';
import { Matrix4 } from 'three';
import {
  array,
  atomicAdd,
  atomicLoad,
  atomicOr,
  countOneBits,
  Fn,
  int,
  Loop,
  mat4,
  materialColor,
  materialReference,
  storage,
  type struct,
  textureSize,
  uniform,
  vec2,
  vec4,
  workgroupArray,
} from 'three/tsl';
import type {
  Node,
  NodeBuilder,
  NodeMaterial,
  StorageBufferAttribute,
  StorageInstancedBufferAttribute,
  TextureNode,
} from 'three/webgpu';
import type { UniformType } from '../lib/instances/UniformLayout.js';
import type { MatrixNode } from './motion.tsl.js';

/**
 * What three.js's nodes can do although their types do not say so. The casts between our types and theirs are in this file
 * alone.
 */

/** Has elements that shaders take by an index computed on the GPU. The types allow that for matrices only. */
export interface Elements<T> {
  element(i: Node<'int'>): Node<T>;
}

/** Structs in a storage buffer. */
export interface Structs {
  value: StorageBufferAttribute;
  element(index: Node): { get<T = 'vec4'>(member: string): Node<T> };
  toReadOnly(): Structs;
}

/** Numbers or vectors in a storage buffer. */
export interface StorageOf<T> extends Elements<T> {
  value: StorageBufferAttribute;
  toReadOnly(): StorageOf<T>;
}

/** What three.js passes to callbacks of nodes. */
export interface DrawFrame {
  object: Object3D | null;
  renderer: object | null;
  scene: Scene | null;
  camera: Camera | null;
  material: Material | null;
  frameId: number;
  /** Tells calls of `render` apart. */
  renderId: number;
}

/** A node builder, which builds the shaders of a material for an object, with members that its type lacks. */
export interface Build {
  object: Object3D | null;
  material: NodeMaterial;
  geometry: BufferGeometry;
  renderer: { highPrecision: boolean };
  shaderStage: string;
  /** Whether only the object that it is for may be drawn with it. */
  objectSpecific: boolean;
  context: { overrideNodes?: Map<Node, OverrideNode>; shadowPositionWorld?: unknown; positionView?: unknown };
  needsPreviousData(): boolean;
  hasGeometryAttribute(name: string): boolean;
  isAvailable(feature: string): boolean;
  getAttributesArray(): {
    name: string;
    node?: { attribute?: unknown; getObjectAttribute(object: Object3D): unknown };
  }[];
  updateNodes: readonly Node[];
}

/** A node material with members that its type, or some of its classes, lack. */
export type DrawnMaterial = NodeMaterial & {
  isShadowPassMaterial?: boolean;
  map?: Texture | null;
  emissive?: Color;
  emissiveNode?: Node<'vec3'> | null;
  roughness?: number;
  roughnessMap?: Texture | null;
  metalness?: number;
  metalnessMap?: Texture | null;
  emissiveMap?: Texture | null;
  normalMap?: Texture | null;
  aoMap?: Texture | null;
};

/** The opacity that a material has of nodes; null where it is that of the material. */
export const opacityNodeOf = ({ opacityNode }: DrawnMaterial): Node<'float'> | null =>
  opacityNode as unknown as Node<'float'> | null;

/** A node that reads a property of a material, and holds one of its own for the value. */
interface MapReference {
  property: string;
  reference: { map?: Texture | null } | null;
  node: { depthNode: Node | null };
  updateReference(state: Build): unknown;
  updateValue(): void;
}

/** Whether a node reads the `map` of the material that is drawn, or of another one. */
export const isMapReference = (node: unknown): boolean =>
  (node as { property?: string }).property === 'map' && 'updateReference' in (node as object);

/**
 * Lets a node that reads a `map` read a layer of it. The node must be for texture arrays alone.
 *
 * @param isWanted Whether the map, of the material that the build is for, is a texture array.
 */
export function readLayer(
  node: unknown,
  builder: Build,
  layer: Node<'int'>,
  isWanted: (material: Material) => boolean,
): void {
  const reference = node as MapReference;
  const material = reference.updateReference(builder);
  if (!isWanted(material as Material)) return;
  reference.updateValue();
  reference.node.depthNode = layer;
}

/** The material whose `map` a node reads. */
export const referredMaterial = (node: unknown, builder: Build): DrawnMaterial =>
  (node as MapReference).updateReference(builder) as DrawnMaterial;

/** A property of the material that is drawn, or of another one: a number, a colour, or a texture, which is a sample of it. */
export const materialProperty = <T extends 'float' | 'vec3' | 'vec4'>(
  name: string,
  kind: string,
  material: Material | null = null,
): Node<T> => materialReference(name, kind, material as Material) as unknown as Node<T>;

/** The node by which three.js itself reads a property of the material that is drawn, in each of its nodes that ask for it. */
export const materialReferenceOf = (name: string, kind: string): Node =>
  (materialColor as unknown as { getCache(name: string, kind: string): Node }).getCache(name, kind);

/** Returns the node that takes the place of another one in a build. */
export type OverrideNode = ((build: Build) => Node) | null;

/** The rows of an affine matrix. */
export type Rows = [Node<'vec4'>, Node<'vec4'>, Node<'vec4'>];

/** Three variables, zero at first, in which rows of matrices are summed up. */
export function zeroRows(): Rows {
  return [vec4(0).toVar(), vec4(0).toVar(), vec4(0).toVar()];
}

/** The rows of an affine matrix of four columns. Builds on the current stack. */
export const rowsOf = ([a, b, c, d]: readonly Node<'vec4'>[]): Rows => [
  vec4(a.x, b.x, c.x, d.x).toVar(),
  vec4(a.y, b.y, c.y, d.y).toVar(),
  vec4(a.z, b.z, c.z, d.z).toVar(),
];

/** Rows of a matrix that takes the origin to a point, and all else too. */
export const rowsOfPoint = ({ x, y, z }: Node<'vec3'>): Rows => [
  vec4(0, 0, 0, x),
  vec4(0, 0, 0, y),
  vec4(0, 0, 0, z),
];

/** Nodes, and what is made of them: structs, and rows of matrices. */
type Values = Node | { readonly [name: string]: Values } | readonly Values[];

/** Variables of these values. Builds on the current stack. */
export function variablesOf<T extends Values>(values: T): T {
  if ((values as Node).isNode) return (values as Node<'float'>).toVar() as Node as T;
  const variables = (Array.isArray(values) ? [] : {}) as Record<string, Values>;
  for (const [name, value] of Object.entries(values)) variables[name] = variablesOf(value as Values);
  return variables as T;
}

/** Gives variables these values, which may be computed of the same variables. Builds on the current stack. */
export function assignAll(variables: Values, values: Values): void {
  assignEach(variables, variablesOf(values));
}

function assignEach(variables: Values, values: Values): void {
  if ((variables as Node).isNode) (variables as Node<'float'>).assign(values as Node<'float'>);
  else for (const [name, value] of Object.entries(values)) assignEach(variables[name as never], value);
}

/** A builder, with the members that its type lacks. */
export function buildOf(builder: NodeBuilder): Build {
  return builder as unknown as Build;
}

/** Makes something once for each build. Functions are given a proxy of their builder, which has the same members. */
export function onceABuild<A, T>(
  make: (of: A, builder: NodeBuilder) => T,
): (of: A, builder: NodeBuilder) => T {
  const made = new WeakMap<object, T>();
  return (of, builder) => {
    const { updateNodes } = buildOf(builder);
    if (!made.has(updateNodes)) made.set(updateNodes, make(of, builder));
    return made.get(updateNodes) as T;
  };
}

/** A matrix whose columns may be asked for. */
export const withColumns = (matrix: Node<'mat4'>): MatrixNode => matrix as unknown as MatrixNode;

/** A matrix that shaders are told; `element` is a column. */
export const matrixUniform = () =>
  uniform(new Matrix4()) as unknown as { value: Matrix4; element(column: number): Node<'vec4'> };

/** A matrix of four columns. */
export function mat4Of(columns: readonly Node<'vec4'>[]): Node<'mat4'> {
  return (mat4 as unknown as (...columns: readonly Node[]) => Node<'mat4'>)(...columns);
}

/** What a uniform of instances is as a node: a color is three numbers. */
export type UniformNodeType<T extends UniformType> = T extends 'color' ? 'vec3' : T;

/** A node whose type is known from what was declared. */
export const uniformOfType = <T extends UniformType>(node: Node): Node<UniformNodeType<T>> =>
  node as unknown as Node<UniformNodeType<T>>;

/** So many of the numbers that lie four in a vector, from the one whose number is `at`. */
export const numbersIn = <T>(vector: Node<'vec4'>, at: number, size = 1): Node<T> =>
  (vector as unknown as Record<string, Node<T>>)['xyzw'.slice(at & 3, (at & 3) + size)];

/** Components of a vector by their number. */
export function componentsOf(vector: Node<'vec4'>): Elements<'float'> {
  return vector as unknown as Elements<'float'>;
}

/** The `count` structs in a buffer. */
export function structsIn(
  buffer: StorageBufferAttribute,
  type: ReturnType<typeof struct>,
  count: number,
): Structs {
  return storage(buffer, type, count) as unknown as Structs;
}

/** Numbers or vectors in a buffer. */
export const storageOf = <T extends 'uint' | 'float' | 'vec4'>(
  buffer: StorageBufferAttribute | StorageInstancedBufferAttribute,
  type: T,
  count = buffer.count,
): StorageOf<T> => storage(buffer, type, count) as unknown as StorageOf<T>;

/**
 * Values that the invocations of a workgroup share.
 *
 * @param name Without one, three.js names them by the number of the node, and finds no shader of the same text.
 */
export function workgroupValues<T extends 'uint' | 'float'>(
  type: T,
  name: string,
  count: number,
): { element(index: Node): Node<T> } {
  const values = workgroupArray(type, count) as unknown as { setName(name: string): unknown };
  return values.setName(name) as { element(index: Node): Node<T> };
}

/** As `workgroupValues`. Few of them: some drivers take long to compile that many are zero. */
export function workgroupAtomics(
  name: string,
  count: number,
): {
  load(index: Node<'int'>): Node<'uint'>;
  add(index: Node<'int'>, value: Node<'uint'>): void;
  or(index: Node<'int'>, value: Node<'uint'>): void;
} {
  const values = workgroupValues('uint', name, count) as unknown as {
    toAtomic(): void;
    element(index: Node): never;
  };
  values.toAtomic();
  return {
    load: (index) => (atomicLoad(values.element(index)) as unknown as Node<'uint'>).toVar(),
    add: (index, value) => {
      atomicAdd(values.element(index), value as never);
    },
    or: (index, value) => {
      atomicOr(values.element(index), value as never);
    },
  };
}

/** So many numbers, zero at first. Builds on the current stack. */
export const zeroFloats = (count: number): Elements<'float'> =>
  array('float', count).toVar() as unknown as Elements<'float'>;

/** How many bits of a number are set. */
export const bitCount = (bits: Node<'uint'>): Node<'uint'> => countOneBits(bits) as unknown as Node<'uint'>;

/**
 * A function of shaders.
 *
 * @param head Its type, what it is called, and the types of its parameters, with spaces between.
 */
export function functionOf<P extends readonly Node[], T extends Node>(
  head: string,
  body: (...parameters: P) => T,
) {
  const [type, name, ...types] = head.split(' ');
  const inputs = types.map((one, i) => ({ name: `p${i}`, type: one }));
  return Fn((parameters: P) => body(...parameters), { name, type, inputs }) as unknown as (
    ...parameters: P
  ) => T;
}

/** A loop that goes on while a condition holds. */
export function While(condition: Node<'bool'>, body: () => void): void {
  Loop(condition as never, body);
}

/** A texel of a texture. Types of three.js have a sample as another texture only, not as the value that it is. */
export function sampleOf(texture: TextureNode, at: Node<'ivec2'>): TextureNode & Node<'vec4'> {
  return texture.sample(at as unknown as Node<'vec2'>) as unknown as TextureNode & Node<'vec4'>;
}

/** The same node, built as if `overridden` had no override in this build. */
export function withoutOverride<N extends Node>(node: N, overridden: Node): N {
  return (node as unknown as { overrideNode(node: Node, by: null): N }).overrideNode(overridden, null);
}

/** Calls back for a node and every node that it is made of. */
export function traverseNode(node: Node, callback: (node: Node) => void): void {
  (node as unknown as { traverse(callback: (node: Node) => void): void }).traverse(callback);
}

/** Texels of a texture along each side. */
export const sizeOf = (texture: TextureNode): Node<'vec2'> =>
  vec2(textureSize(texture, int(0)) as unknown as Node<'ivec2'>);

/** The same along one side, also of one with layers. */
export const sideOf = (texture: TextureNode, side: 'x' | 'y'): Node<'int'> =>
  int((textureSize(texture, int(0)) as unknown as Node<'ivec2'>)[side]);

/** A sample of a level of a texture, without the matrix that textures have for their coordinates. */
export function sampleLevel(texture: TextureNode, uv: Node<'vec2'>, level: Node<'float'>): Node<'vec4'> {
  const node = texture.sample(uv);
  node.updateMatrix = false;
  return node.level(level) as unknown as Node<'vec4'>;
}
