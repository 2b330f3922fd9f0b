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
import { flatNormal, mergedNormal, mergedSample } from '../../../shaders/mergedSurface.tsl.js';
import { partMapOffset } from '../../../shaders/parts.tsl.js';
import {
  type Build,
  buildOf,
  type DrawnMaterial,
  isMapReference,
  materialProperty,
  opacityNodeOf,
  readLayer,
  referredMaterial,
  traverseNode,
  vec4Of,
} from '../../../shaders/tsl.js';
import { hasLayers, TABLE_EMISSIVE, TABLE_METALNESS, TABLE_ROUGHNESS } from '../../utils/mergedMaps.js';
import { type DrawnCrowd, isCrowd } from '../DrawnCrowd.js';
import { hasArrayMap, hasPalette, mergedCode } from '../surfaceMaps.js';
import { partNode, variantFor } from './crowdNodes.js';
import { mergedNodes } from './mergedNodes.js';
import { uniformNode } from './uniformNodes.js';

/** Builds a part of a material's surface. What nodes the material has for it is changed meanwhile, and put back. */
export type SetupSurface = (this: NodeMaterial, builder: NodeBuilder) => unknown;

type Nodes = Partial<
  Record<
    | 'colorNode'
    | 'opacityNode'
    | 'emissiveNode'
    | 'roughnessNode'
    | 'metalnessNode'
    | 'normalNode'
    | 'aoNode',
    Node | null
  >
>;

/** Colour and opacity: the offset of the part's map, the layer of a texture array, and what multiplies the opacity. */
export function colorOfCrowd(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): Nodes {
  const nodes: Nodes = {};
  const build = buildOf(builder);
  if (material.isShadowPassMaterial === true) {
    // Shadows know nothing of opacity in three.js.
    const { colorNode } = material;
    if (colorNode !== null) nodes.colorNode = shadowColor(colorNode, builder);
    return nodes;
  }
  const { colorNode } = material;
  const merged = mergedNodes(material, builder);
  if (merged !== null && material.map && colorNode !== null) {
    // Nodes of the user may ask for the material's colour.
    const color = withColor(merged.sample('map'));
    build.context.overrideNodes?.set(materialColor, () => color);
  }
  if (material.map && colorNode === null) {
    const layered = hasArrayMap(material) ? layerColor(build) : materialColor;
    const sampled = merged === null ? layered : withColor(merged.sample('map'));
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
  const { emissive, emissiveNode, emissiveMap } = material;
  if (emissive === undefined && !emissiveNode) return {};
  const merged = mergedNodes(material, builder);
  const own = merged?.numbers(TABLE_EMISSIVE);
  const emitted = emissiveMap && merged ? own?.mul(merged.sample('emissiveMap').rgb) : own;
  const added = uniformNode<'vec3'>(crowd, builder, 'emissive');
  if (added === null) return emitted === undefined ? {} : { emissiveNode: emitted };
  return { emissiveNode: vec3(emissiveNode ?? emitted ?? materialEmissive).add(added) };
}

/** The normal, where merged materials have normal maps. */
export function normalOfCrowd(material: DrawnMaterial, builder: NodeBuilder): Nodes {
  const merged = material.normalMap ? mergedNodes(material, builder) : null;
  if (merged === null) return {};
  const scale = materialProperty<'vec2'>('normalScale', 'vec2');
  return { normalNode: mergedNormal(merged.sample('normalMap', flatNormal()), scale) };
}

/** How much light reaches the surface, where merged materials have maps of that. */
export function occlusionOfCrowd(material: DrawnMaterial, builder: NodeBuilder): Nodes {
  const merged = material.aoMap ? mergedNodes(material, builder) : null;
  if (merged === null) return {};
  const intensity = materialProperty<'float'>('aoMapIntensity', 'float');
  return { aoNode: merged.sample('aoMap').r.sub(1).mul(intensity).add(1) };
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
  const merged = mergedNodes(material, builder);
  if (merged !== null) {
    const constant = merged.number(name === 'roughness' ? TABLE_ROUGHNESS : TABLE_METALNESS);
    const factor = own === null ? constant : instanceFactor(own, constant);
    return material[`${name}Map`] ? factor.mul(merged.sample(`${name}Map`)[channel]) : factor;
  }
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
  return withColor(map);
}

const withColor = (texel: Node<'vec4'>): Node<'vec4'> =>
  texel.mul(vec4(materialProperty<'vec3'>('color', 'color'), 1));

/** Lets the colour that three.js makes for shadows read the layer of maps that are texture arrays. */
function shadowColor(colorNode: Node, builder: NodeBuilder): Node {
  const build = buildOf(builder);
  let color = colorNode;
  traverseNode(colorNode, (node) => {
    if (!isMapReference(node)) return;
    const source = referredMaterial(node, build);
    const merged = mergedNodes(source, builder);
    if (merged === null) {
      readLayer(node, build, mapLayer(), hasArrayMap);
      return;
    }
    const layer = merged.layer('map');
    readLayer(node, build, int(layer.max(0)), (material) => hasLayers(mergedCode(material), 'map'));
    // What has no map has no holes.
    color = mergedSample(vec4Of(colorNode), layer, vec4(0, 0, 0, 1));
  });
  return color;
}
