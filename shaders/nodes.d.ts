/** What the build makes of a text's functions, see `tests/setup/shaderNodes.mjs`: takes what they need, and returns them. */
declare module '*GLSL' {
  const nodes: <T extends object = object>(needs?: object) => T;
  export default nodes;
}
