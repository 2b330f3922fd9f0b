import { INSTANCES_PER_ROW, INSTANCES_PER_ROW_BITS } from '../lib/constants.js';
import {
  initialOf,
  layoutOf,
  layoutOfNumber,
  type SurfaceValue,
  type UniformLayout,
  type UniformPlace,
  type UniformType,
} from '../lib/instances/UniformLayout.js';
import { ARRAY_MAP, MERGED, PALETTE } from '../lib/utils/surfaceMaps.js';
import { mergedConstantGLSL, mergedFragmentGLSL, mergedVertexGLSL } from './mergedSurface.glsl.js';
import { callFirst } from './placeVertex.glsl.js';
import { variantOf } from './ShaderVariant.js';
import { PART_INDEX, type SurfaceGLSL, type SurfaceProgram } from './skinVertex.glsl.js';

/** What must be called in `main` of a vertex shader once it is known which instance is drawn. */
const READ_UNIFORMS = 'readInstanceUniforms();';

/**
 * The uniforms that a program's shaders know: those of all its variants. It has a varying for each texel of them.
 *
 * @throws If two variants have different ones of the same name.
 */
function uniformsOfProgram(codes: readonly number[]): UniformLayout {
  const types = new Map<string, UniformType>();
  for (const code of codes) {
    for (const [name, type] of layoutOfCode(code).types()) {
      const known = types.get(name) ?? type;
      if (known !== type) {
        throw new Error(
          `SkinnedInstancedMesh: crowds that share a material have a uniform "${name}" each, one a ${known}, the other a ${type}; declare both alike, or clone the material.`,
        );
      }
      types.set(name, type);
    }
  }
  return layoutOf(types);
}

const layoutOfCode = (code: number): UniformLayout => layoutOfNumber(variantOf(code).uniforms);

/**
 * Stands before all of a vertex shader and of a fragment shader, so that whatever the user has put into them can read uniforms:
 * as `instanceUniform_NAME`, which is defined only where objects have it.
 */
function declareUniformsGLSL({ texels, places }: UniformLayout): string {
  const varyings = Array.from({ length: texels }, (_, i) => `varying highp vec4 instanceUniforms${i};`);
  const names = [...places.values()].map(
    (place) => `#define instanceUniform_${place.name} ${componentsOf('instanceUniforms', place)}`,
  );
  return `${[...varyings, ...names].join('\n')}\n`;
}

/** Defines `readInstanceUniforms()`, which gives the varyings the numbers of the instance that is drawn. */
function readUniformsGLSL(codes: readonly number[], program: UniformLayout): string {
  const [first, ...others] = codes;
  const branches = others.map(
    (code) => `if ( CROWD_VARIANT == ${code} ) { ${readGLSL(code, program)} return; }`,
  );
  return /* glsl */ `
void readInstanceUniforms() {

  int index = instanceIndex();
  ${branches.join('\n  ')}
  ${readGLSL(first, program)}

}
`;
}

function readGLSL(code: number, program: UniformLayout): string {
  const layout = layoutOfCode(code);
  const texels = Array.from(
    { length: layout.texels },
    (_, i) =>
      `texelFetch( CROWD_UNIFORMS, ivec2( ( index & ${INSTANCES_PER_ROW - 1} ) * ${layout.texels} + ${i}, index >> ${INSTANCES_PER_ROW_BITS} ), 0 )`,
  );
  if (layout === program) return texels.map((texel, i) => `instanceUniforms${i} = ${texel};`).join('\n  ');
  const read = texels.map((texel, i) => `vec4 texel${i} = ${texel};`);
  // What this variant has not is as it is to begin with.
  const assigned = [...program.places.values()].map(({ name }) => {
    const own = layout.places.get(name);
    const value = own === undefined ? constantGLSL(name, program) : componentsOf('texel', own);
    return `instanceUniform_${name} = ${value};`;
  });
  return [...read, ...assigned].join('\n  ');
}

function constantGLSL(name: string, { places }: UniformLayout): string {
  const { size } = places.get(name) as UniformPlace;
  const numbers = initialOf(name)
    .slice(0, size)
    .map((value) => value.toFixed(1));
  return size === 1 ? numbers[0] : `vec${size}( ${numbers.join(', ')} )`;
}

const componentsOf = (vectors: string, { at, size }: UniformPlace): string =>
  `${vectors}${at >> 2}.${'xyzw'.slice(at & 3, (at & 3) + size)}`;

/** Puts what instances have of their own into the fragment shader of a material, whose includes are not yet resolved. */
function fragment(
  fragmentShader: string,
  program: SurfaceProgram,
  dropped: (name: string, chunk: string) => void,
): string {
  const { codes, maps } = program;
  const merged = (maps & MERGED) !== 0;
  const uniforms = uniformsOfProgram(codes);
  let shader = merged ? mergedFragmentGLSL(fragmentShader, maps, dropped) : fragmentShader;
  /** Puts code around a chunk, or in its place. */
  const edit = (chunk: string, edited: (include: string) => string): boolean => {
    const include = `#include <${chunk}>`;
    const found = shader.includes(include);
    shader = shader.replace(include, () => edited(include));
    return found;
  };
  /** The same for what takes the place of a look. */
  const give = (look: SurfaceValue, chunk: string, edited: (include: string) => string): void => {
    if (edit(chunk, edited) || !(uniforms.places.has(look) || merged)) return;
    if (!fragmentShader.includes(`instanceUniform_${look}`)) dropped(look, chunk);
  };
  if ((maps & ARRAY_MAP) !== 0) {
    const layer = uniforms.places.has('mapLayer') ? 'instanceUniform_mapLayer' : '0.0';
    edit('map_pars_fragment', () => arrayMapGLSL);
    give('mapLayer', 'map_fragment', () => sampleLayerGLSL(layer));
  }
  for (const name of ['roughness', 'metalness'] as const) {
    const has = uniforms.places.has(name);
    if (!has && !merged) continue;
    const own = merged ? mergedConstantGLSL(name) : name;
    give(name, `${name}map_fragment`, (include) =>
      (maps & PALETTE) !== 0 ? afterPalette(include, name) : beforeMap(include, name, own, has),
    );
  }
  if (uniforms.texels === 0) return shader;
  if (uniforms.places.has('opacity')) {
    const code = opacityGLSL(program);
    // Before anything is discarded. MeshNormalMaterial has no maps.
    if (!edit('alphamap_fragment', (include) => `${code}\n${include}`)) {
      // A shader of the user's may clip before it has a colour, or have none of that name.
      const before = shader.slice(0, Math.max(0, shader.indexOf('#include <clipping_planes_fragment>')));
      if (/\bvec4\s+diffuseColor\b/.test(before))
        edit('clipping_planes_fragment', (include) => `${include}\n${code}`);
      else if (!fragmentShader.includes('instanceUniform_opacity')) dropped('opacity', 'alphamap_fragment');
    }
  }
  if (uniforms.places.has('emissive')) {
    give(
      'emissive',
      'emissivemap_fragment',
      (include) => `${include}\ntotalEmissiveRadiance += instanceUniform_emissive;`,
    );
  }
  return declareUniformsGLSL(uniforms) + shader;
}

const arrayMapGLSL = /* glsl */ `
#ifdef USE_MAP

  uniform highp sampler2DArray map;

#endif
`;

const sampleLayerGLSL = (layer: string): string => /* glsl */ `
#ifdef USE_MAP

  vec4 sampledDiffuseColor = texture( map, vec3( vMapUv, ${layer} ) );
  diffuseColor *= sampledDiffuseColor;

#endif
`;

/** Shadows of three.js know nothing of opacity, unless the user gives the crowd a depth material that hashes it. */
const opacityGLSL = ({ shadow }: SurfaceProgram): string => {
  const code = 'diffuseColor.a *= instanceUniform_opacity;';
  return shadow ? `\n#ifdef USE_ALPHAHASH\n  ${code}\n#endif\n` : code;
};

/**
 * Has a chunk read another factor in the place of the material's uniform.
 *
 * @param own What the material says.
 * @param instanced Whether instances may have one of their own.
 */
const beforeMap = (include: string, name: string, own: string, instanced: boolean): string => /* glsl */ `
float crowd_${name} = ${instanced ? `instanceUniform_${name} >= 0.0 ? instanceUniform_${name} : ` : ''}${own};
#define ${name} crowd_${name}
${include}
#undef ${name}
`;

const afterPalette = (include: string, name: string): string => /* glsl */ `
${include}
if ( instanceUniform_${name} >= 0.0 ) ${name}Factor = instanceUniform_${name};
`;

/** Comes with what gives instances uniforms, and with what merges materials, which says what their textures ask for. */
export const surfaceGLSL = (textures: Required<Pick<SurfaceGLSL, 'mapsOf' | 'uniforms'>>): SurfaceGLSL => ({
  ...textures,
  vertex(vertexShader, codes, maps) {
    const uniforms = uniformsOfProgram(codes);
    const shader = maps & MERGED ? mergedVertexGLSL(vertexShader) : vertexShader;
    return uniforms.texels > 0 ? declareUniformsGLSL(uniforms) + callFirst(shader, READ_UNIFORMS) : shader;
  },
  functions(codes, maps) {
    const uniforms = uniformsOfProgram(codes);
    const merged = maps & MERGED ? [PART_INDEX] : [];
    return uniforms.texels > 0 ? [...merged, readUniformsGLSL(codes, uniforms)] : merged;
  },
  fragment,
});
