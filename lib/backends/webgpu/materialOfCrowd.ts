import type { Material, Texture } from 'three';
import {
  attribute,
  Fn,
  float,
  int,
  ivec2,
  materialEmissive,
  mix,
  select,
  step,
  varying,
  vec3,
  vec4,
} from 'three/tsl';
import type { Node, NodeBuilder } from 'three/webgpu';
import { texels } from '../../../shaders/TexelNode.js';
import {
  buildOf,
  type DrawnMaterial,
  isMapReference,
  materialProperty,
  materialReferenceOf,
  numbersIn,
  type OverrideNode,
  onceABuild,
  opacityNodeOf,
  readLayer,
  referredMaterial,
  traverseNode,
  withoutOverride,
} from '../../../shaders/tsl.js';
import type { DrawnCrowd } from '../../core/Crowd.js';
import { isCrowd } from '../../core/drawnCrowds.js';
import {
  hasArrayMap,
  hasLayers,
  hasPalette,
  MERGED_MAPS,
  type MergedMap,
  mergedCode,
  mergedTable,
  TABLE_EMISSIVE,
  TABLE_METALNESS,
  TABLE_ROUGHNESS,
  TABLE_TEXELS,
} from '../../utils/surfaceMaps.js';
import { onCrowdUpdate, partNode, variantFor } from './crowdNodes.js';
import { nodesOf } from './featureNodes.js';
import { uniformNode } from './uniformNodes.js';

/**
 * Lets a build read what instances and merged materials have in the place of a material's constants and textures. All of three.js's
 * `materialColor`, `materialRoughness` and the like are made of the same few nodes, one for each property of a material. It is these
 * whose place is taken, so that nodes of the user that ask for the like get the same as three.js's own.
 */
export function overrideMaterial(material: DrawnMaterial, builder: NodeBuilder, crowd: DrawnCrowd): void {
  const { overrideNodes } = buildOf(builder).context;
  const merged = mergedNodes(material, builder);
  const override = (name: string, kind: 'float' | 'color' | 'texture', by: OverrideNode) => {
    overrideNodes?.set(materialReferenceOf(name, kind), by);
  };

  if (material.isShadowPassMaterial === true && material.colorNode !== null)
    overrideShadowMap(material, material.colorNode, builder, crowd);
  const map = mapOfCrowd(material, builder, crowd, null);
  if (map !== null) override('map', 'texture', () => map);
  if (variantFor(material, crowd).parts) override('color', 'color', nodesOf('InstanceParts').color);
  for (const name of ['roughness', 'metalness'] as const) {
    const own = uniformNode<'float'>(crowd, builder, name);
    if (own === null && merged === null) continue;
    const at = name === 'roughness' ? TABLE_ROUGHNESS : TABLE_METALNESS;
    const constant = merged?.number(at) ?? materialProperty<'float'>(name, 'float');
    override(name, 'float', () => (own === null ? constant : select(own.lessThan(0), constant, own)));
    if (own === null || !hasPalette(material)) continue;
    // Its texels are constants of the merged materials, and not what multiplies them.
    const texel = materialProperty<'vec4'>(`${name}Map`, 'texture');
    override(`${name}Map`, 'texture', () => select(own.lessThan(0), texel, vec4(1)));
  }
  const opacity = uniformNode<'float'>(crowd, builder, 'opacity');
  // Shadows know nothing of opacity in three.js.
  if (opacity !== null && material.isShadowPassMaterial !== true) {
    override('opacity', 'float', () => materialProperty<'float'>('opacity', 'float').mul(opacity));
  }
  if (merged === null) return;
  override('emissive', 'color', () => merged.numbers(TABLE_EMISSIVE));
  // It is in those numbers.
  override('emissiveIntensity', 'float', () => vec4(1).x);
  for (const name of MERGED_MAPS) {
    if (name === 'map' || !material[name]) continue;
    override(name, 'texture', () =>
      merged.sample(name, name === 'normalMap' ? vec4(0.5, 0.5, 1, 1) : undefined),
    );
  }
}

/** What a material has of nodes for its surface, with what the instance has of its own. */
export function surfaceNodes(
  material: DrawnMaterial,
  builder: NodeBuilder,
  crowd: DrawnCrowd,
): { opacityNode?: Node<'float'>; emissiveNode?: Node<'vec3'> } {
  const nodes: ReturnType<typeof surfaceNodes> = {};
  if (material.isShadowPassMaterial === true) return nodes;
  const opacityNode = opacityNodeOf(material);
  const opacity = opacityNode && uniformNode<'float'>(crowd, builder, 'opacity');
  // It may ask for the material's opacity, which is multiplied elsewhere.
  if (opacity !== null)
    nodes.opacityNode = withoutOverride(
      float(opacityNode as Node<'float'>),
      materialReferenceOf('opacity', 'float'),
    ).mul(opacity);
  const { emissive, emissiveNode } = material;
  // Materials without emission get none.
  const added = emissive || emissiveNode ? uniformNode<'vec3'>(crowd, builder, 'emissive') : null;
  if (added !== null) nodes.emissiveNode = vec3(emissiveNode ?? materialEmissive).add(added);
  return nodes;
}

/** Lets the colour that three.js makes for shadows read the same map of a material as its picture does. */
function overrideShadowMap(
  shadow: DrawnMaterial,
  colorNode: Node,
  builder: NodeBuilder,
  crowd: DrawnCrowd,
): void {
  const build = buildOf(builder);
  traverseNode(colorNode, (node) => {
    if (!isMapReference(node)) return;
    const map = mapOfCrowd(shadow, builder, crowd, referredMaterial(node, build));
    if (map !== null) build.context.overrideNodes?.set(node, () => map);
  });
}

/**
 * A sample of a material's map, with what parts of instances move it by; null where that is what three.js samples.
 *
 * @param drawn What is drawn: the material, or one that draws shadows.
 * @param referred The material that has the map, if it is another than that.
 */
function mapOfCrowd(
  drawn: DrawnMaterial,
  builder: NodeBuilder,
  crowd: DrawnCrowd,
  referred: DrawnMaterial | null,
): Node | null {
  const material = referred ?? drawn;
  if (!material.map) return null;
  const merged = mergedNodes(material, builder);
  const variant = variantFor(drawn, crowd);
  const layered = hasArrayMap(material);
  if (merged === null && !layered && !variant.parts) return null;

  const own = materialProperty<'vec4'>('map', 'texture', referred);
  if (layered) readLayer(own, buildOf(builder), mapLayer(), () => true);
  const sample = layered ? own : (merged?.sample('map', undefined, own) ?? own);
  if (!variant.parts) return sample;
  const { mapOffset } = nodesOf('InstanceParts');
  const part = partNode(crowd, variant, builder);
  const inVertexStage = Fn(() => mapOffset(part()));
  const offset = varying(inVertexStage());
  const getUV = (texture: { getDefaultUV(): Node<'vec2'> }) => texture.getDefaultUV().add(offset);
  return sample.context({ getUV });
}

/** Which layer of a texture array the drawn object shows; of objects that are no crowds, the first. */
const mapLayer = /*@__PURE__*/ Fn((builder: NodeBuilder) => {
  const { object } = buildOf(builder);
  const layer = isCrowd(object) ? uniformNode<'float'>(object, builder, 'mapLayer') : null;
  return layer === null ? int(0) : int(layer.add(0.5));
});

/**
 * What shaders know of the merged material that a fragment is of, where a material was merged of several with different textures; null
 * for others: twin of `mergedSurface.glsl.ts`.
 *
 * @param material The one that the build is for, or whose shadow is.
 */
const mergedNodes = (material: Material, builder: NodeBuilder) =>
  mergedTable(material) === null ? null : tableNodes(material, builder);

const tableNodes = /*@__PURE__*/ onceABuild((material: Material, builder) => {
  const table = texels(mergedTable(material) as Texture);
  // Builds may be shared by several merged materials.
  onCrowdUpdate((_crowd, _renderer, { material: drawn }) => {
    table.value = (drawn && mergedTable(drawn)) ?? table.value;
  });
  const index = varying(int(attribute<'ivec2'>('partIndex', 'ivec2').y)).mul(TABLE_TEXELS);
  const code = mergedCode(material);
  const texel = (at: number) => table.texel(ivec2(index.add(at >> 2), 0));
  const number = (at: number) => numbersIn<'float'>(texel(at), at);
  return {
    /** A number of the table. */
    number,
    /** Three of them, from one of which the number is a multiple of four. */
    numbers: (at: number) => texel(at).xyz,
    /**
     * A sample of a texture; `none`, or white, where the material has none.
     *
     * @param sampled Samples all layers of it; by default those of the material that is drawn.
     */
    sample(map: MergedMap, none = vec4(1), sampled = materialProperty<'vec4'>(map, 'texture')): Node<'vec4'> {
      // Negative where the material has no such texture.
      const layer = number(MERGED_MAPS.indexOf(map));
      readLayer(sampled, buildOf(builder), int(layer.max(0)), () => hasLayers(code, map));
      return mix(none, sampled, step(0, layer));
    },
  };
});
