/** A module that the build makes one text of, together with all that it imports. */
declare module '*?bundled' {
  const text: string;
  export default text;
}
