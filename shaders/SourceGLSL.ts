import type { ShaderVariant } from './ShaderVariant.js';

/** How a pose source poses vertices under WebGLRenderer. */
export interface SourceGLSL {
  /**
   * Whether its declarations define `posedPosition` and `posedNormal`, which multiply positions and normals with the matrix, in
   * the place of those that just do that.
   */
  definesPosed?: boolean;
  /** Whether entries of lists are rows of its palette, whose matrices place instances too. */
  places?: boolean;
  /**
   * What the functions of its variants need. Several sources in one program declare what they have in common once: texts
   * that are the same.
   *
   * @param morphs Whether clips move morph targets in any variant of the program.
   */
  declarations(morphs: boolean): readonly string[];
  /**
   * Defines `mat3x4 name()`, the affine matrix that takes the vertex from where it was modelled to where it is posed. Its
   * columns are the matrix's rows. Sources without joints give one that holds for the vertex alone.
   */
  skinningMatrix(name: string, variant: ShaderVariant): string;
}
