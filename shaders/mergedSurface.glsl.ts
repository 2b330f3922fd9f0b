import type { SurfaceValue } from '../lib/instances/UniformLayout.js';
import {
  hasLayers,
  MERGED_MAPS,
  type MergedMap,
  TABLE_EMISSIVE,
  TABLE_METALNESS,
  TABLE_ROUGHNESS,
  TABLE_TEXELS,
} from '../lib/utils/surfaceMaps.js';
import { callFirst } from './placeVertex.glsl.js';

/** What stands for a texture where a material has none. */
const noneOf = (map: MergedMap): string => (map === 'normalMap' ? '0.5, 0.5, 1.0, 1.0' : '1.0');

/** Says in fragments of which of the merged materials they are; the vertex shader declares `partIndex` elsewhere. */
export const mergedVertexGLSL = (vertexShader: string): string =>
  `flat varying int mergedIndex;\n${callFirst(vertexShader, 'mergedIndex = int( partIndex.y );')}`;

/** A number of the merged material that the fragment is of. */
const numberGLSL = (at: number): string => `mergedTexel( ${at >> 2} ).${'xyzw'[at & 3]}`;

/** What takes the place of a constant of the material's. */
export const mergedConstantGLSL = (name: 'roughness' | 'metalness'): string =>
  numberGLSL(name === 'roughness' ? TABLE_ROUGHNESS : TABLE_METALNESS);

/**
 * Lets a fragment shader, whose includes are not yet resolved, sample the textures of the merged material that each fragment is of:
 * also where code of the user takes the place of three.js's, as long as it says `texture2D( map, … )`. A function of the user's that has
 * a parameter of such a name samples what it is given.
 *
 * @param code See `mergedCode`.
 * @param dropped Called for what the shader has no place for, since it lacks a chunk.
 */
export function mergedFragmentGLSL(
  fragmentShader: string,
  code: number,
  dropped: (look: SurfaceValue, chunk: string) => void,
): string {
  let shader = fragmentShader;
  MERGED_MAPS.forEach((map, i) => {
    const declared = `${map.toLowerCase()}_pars_fragment`;
    const sampled = map === 'normalMap' ? 'normal_fragment_maps' : `${map.toLowerCase()}_fragment`;
    const edit = (chunk: string, code: string): boolean => {
      const include = `#include <${chunk}>`;
      const found = shader.includes(include);
      shader = shader.replace(include, () => code);
      return found;
    };
    shader = sampleMerged(shader, map);
    // By a macro, since the build of three.js that pages for WebGPU call "three" does not export its chunks.
    const has = edit(
      declared,
      /* glsl */ `
${hasLayers(code, map) ? '#define sampler2D highp sampler2DArray' : ''}
#include <${declared}>
#undef sampler2D
#ifdef USE_${map.toUpperCase()}
  vec4 merged_${map}( vec2 uv, float bias ) {
    return mergedSample( ${map}, uv, bias, ${numberGLSL(i)}, vec4( ${noneOf(map)} ) );
  }
  vec4 merged_${map}( vec2 uv ) {
    return merged_${map}( uv, 0.0 );
  }
#endif
`,
    );
    const emits = map === 'emissiveMap';
    const found = edit(
      sampled,
      /* glsl */ `
${emits ? `totalEmissiveRadiance = mergedTexel( ${TABLE_EMISSIVE >> 2} ).xyz;` : ''}
#undef texture2D
#define texture2D( map, uv ) merged_${map}( uv )
#include <${sampled}>
#undef texture2D
#define texture2D texture
`,
    );
    if (emits && has && !found) dropped('emissive', sampled);
  });
  return functionsGLSL() + shader;
}

/** Where code samples a texture by name, lets it sample that of the merged material; but not where it names a parameter. */
function sampleMerged(shader: string, map: MergedMap): string {
  const sampling = new RegExp(`\\btexture(2D)?\\s*\\(\\s*${map}\\s*,`, 'g');
  const parameter = new RegExp(`[(,][\\w\\s]*\\bsampler2D\\s+${map}\\s*[,)][^;{}]*\\{`, 'g');
  let [merged, end] = ['', 0];
  for (const { index, 0: head } of shader.matchAll(parameter)) {
    merged += shader.slice(end, index).replace(sampling, `merged_${map}(`);
    end = endOfBlock(shader, index + head.length);
    merged += shader.slice(index, end);
  }
  return merged + shader.slice(end).replace(sampling, `merged_${map}(`);
}

/** Where a block ends whose bracket stands before `at`. */
function endOfBlock(shader: string, at: number): number {
  let end = at;
  for (let depth = 1; depth > 0 && end < shader.length; end++) {
    if (shader[end] === '{') depth++;
    else if (shader[end] === '}') depth--;
  }
  return end;
}

/** The layer is negative where the material has no such texture; it is sampled all the same, so that all fragments do alike. */
const functionsGLSL = (): string => /* glsl */ `
flat varying int mergedIndex;
uniform highp sampler2D crowdMergedTable;

vec4 mergedTexel( int texel ) {

  return texelFetch( crowdMergedTable, ivec2( mergedIndex * ${TABLE_TEXELS} + texel, 0 ), 0 );

}

vec4 mergedSample( sampler2D map, vec2 uv, float bias, float layer, vec4 none ) {

  vec4 texel = texture( map, uv, bias );
  return layer < 0.0 ? none : texel;

}

vec4 mergedSample( highp sampler2DArray map, vec2 uv, float bias, float layer, vec4 none ) {

  vec4 texel = texture( map, vec3( uv, max( layer, 0.0 ) ), bias );
  return layer < 0.0 ? none : texel;

}
`;
