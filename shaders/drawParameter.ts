/** A float of the draw's parameters, which ride in the `bindMatrix` that three.js sets for each object it draws. */
export function drawParameterGLSL(index: number): string {
  return `bindMatrix[ ${index >> 2} ][ ${index & 3} ]`;
}
