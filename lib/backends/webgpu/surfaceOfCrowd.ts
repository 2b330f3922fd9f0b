import {
  Fn,
  float,
  int,
  materialColor,
  materialEmissive,
  materialMetalness,
  materialOpacity,
  materialRoughness,
  varying,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder, NodeMaterial } from 'three/webgpu';
import { instanceFactor } from '../../../shaders/instanceUniforms.tsl.js';
import { partMapOffset } from '../../../shaders/parts.tsl.js';
import {
  type Build,
  buildOf,
  type DrawnMaterial,
  isMapReference,
  materialProperty,
  opacityNodeOf,
  readLayer,
  traverseNode,
} from '../../../shaders/tsl.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { hasArrayMap, hasPalette } from '../surfaceMaps.js';
import { partNode, variantFor } from './crowdNodes.js';
import { uniformNode } from './uniformNodes.js';

/** Builds a part of a material's surface. What nodes the material has for it is changed meanwhile, and put back. */
export type SetupSurface = (this: NodeMaterial, builder: NodeBuilder) => unknown;

type Nodes = Partial<
  Record<'colorNode' | 'opacityNode' | 'emissiveNode' | 'roughnessNode' | 'metalnessNode', Node | null>
>;

/** Colour and opacity: the offset of the part's map, the layer of a texture array, and what multiplies the opacity. */
export function colorOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  const nodes: Nodes = {};
  const build = buildOf(builder);
  if (material.isShadowPassMaterial === true) {
    // Shadows know nothing of opacity in three.js.
    if (material.colorNode !== null) layerShadow(material.colorNode, build);
    return nodes;
  }
  const { colorNode } = material;
  if (material.map && colorNode === null) {
    const sampled = hasArrayMap(material) ? layerColor(build) : materialColor;
    const variant = variantFor(material, crowd);
    if (variant.parts) {
      const part = partNode(crowd, variant, builder);
      const inVertexStage = Fn(() => partMapOffset(part()));
      const offset = varying(inVertexStage());
      const getUV = (texture: { getDefaultUV(): Node<'vec2'> }) => texture.getDefaultUV().add(offset);
      nodes.colorNode = sampled.context({ getUV });
    } else if (sampled !== materialColor) nodes.colorNode = sampled;
  }
  const opacity = uniformNode<'float'>(crowd, builder, 'opacity');
  if (opacity !== null) nodes.opacityNode = float(opacityNodeOf(material) ?? materialOpacity).mul(opacity);
  return nodes;
}

/** Roughness and metalness. Nodes of the user are left to what they say. */
export function variantsOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  const nodes: Nodes = {};
  if (material.roughness !== undefined && !material.roughnessNode) {
    nodes.roughnessNode = surfaceNode(material, builder, crowd, 'roughness', 'g');
  }
  if (material.metalness !== undefined && !material.metalnessNode) {
    nodes.metalnessNode = surfaceNode(material, builder, crowd, 'metalness', 'b');
  }
  return nodes;
}

/** What is added to the emission, where the material has any. */
export function lightingOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  const { emissive, emissiveNode } = material;
  if (emissive === undefined && !emissiveNode) return {};
  const added = uniformNode<'vec3'>(crowd, builder, 'emissive');
  return added === null ? {} : { emissiveNode: vec3(emissiveNode ?? materialEmissive).add(added) };
}

/** A method that builds a surface with nodes that `nodesFor` returns in the place of the material's. */
export const surfaceOfCrowd = (
  original: (material: NodeMaterial) => SetupSurface,
  nodesFor: (material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd) => Nodes,
): SetupSurface =>
  function setupSurface(this: NodeMaterial, builder: NodeBuilder): unknown {
    const { object } = buildOf(builder);
    if (!isCrowd(object)) return original(this).call(this, builder);
    const material = this as DrawnMaterial & Nodes;
    const nodes = nodesFor(material, builder, object);
    const kept: Nodes = {};
    for (const name of Object.keys(nodes) as (keyof Nodes)[]) kept[name] = material[name];
    Object.assign(material, nodes);
    try {
      return original(this).call(this, builder);
    } finally {
      Object.assign(material, kept);
    }
  };

function surfaceNode(
  material: DrawnMaterial,
  builder: NodeBuilder,
  crowd: DrawnCrowd,
  name: 'roughness' | 'metalness',
  channel: 'g' | 'b',
): Node | null {
  const own = uniformNode<'float'>(crowd, builder, name);
  if (own === null) return null;
  const whole = name === 'roughness' ? materialRoughness : materialMetalness;
  if (hasPalette(material)) return instanceFactor(own, whole);
  const factor = instanceFactor(own, materialProperty<'float'>(name, 'float'));
  if (!material[`${name}Map`]) return factor;
  return factor.mul(materialProperty<'vec4'>(`${name}Map`, 'texture')[channel]);
}

/** Which layer of a texture array the drawn object shows; of objects that are no crowds, the first. */
const mapLayer = /*@__PURE__*/ Fn((builder: NodeBuilder) => {
  const { object } = buildOf(builder);
  const layer = isCrowd(object) ? uniformNode<'float'>(object, builder, 'mapLayer') : null;
  return layer === null ? int(0) : int(layer.add(0.5));
});

/** The material's colour, from a texture array. */
function layerColor(build: Build): Node<'vec4'> {
  const map = materialProperty<'vec4'>('map', 'texture');
  readLayer(map, build, mapLayer(), () => true);
  return map.mul(vec4(materialProperty<'vec3'>('color', 'color'), 1));
}

/** Lets the colour that three.js makes for shadows read the layer of maps that are texture arrays. */
function layerShadow(colorNode: Node, build: Build): void {
  traverseNode(colorNode, (node) => {
    if (isMapReference(node)) readLayer(node, build, mapLayer(), hasArrayMap);
  });
}
