import { dirname } from 'node:path';
import ts from 'typescript';

/**
 * What the compiler says of a project, of its settings and of those files whose path has one of `ours` in it. Other files
 * are read but not checked: three.js's types take the compiler several times as long as all of ours.
 *
 * @param config Path of a tsconfig.json.
 */
export function typeErrorsIn(config: string, ours: readonly string[]): string[] {
  const { config: json, error } = ts.readConfigFile(config, ts.sys.readFile);
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, dirname(config));
  const program = ts.createProgram(fileNames, options);
  const found = [...(error ? [error] : []), ...errors, ...program.getOptionsDiagnostics()];
  const files = program.getSourceFiles().filter(({ fileName }) => ours.some((one) => fileName.includes(one)));
  for (const one of ours) {
    if (!files.some(({ fileName }) => fileName.includes(one)))
      throw new Error(`typeErrorsIn: ${config} leads to no file that has ${one} in its path.`);
  }
  for (const file of files)
    found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
  return found.map((one) => ts.formatDiagnostic(one, FORMAT).trim());
}

const FORMAT: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => ts.sys.getCurrentDirectory(),
  getNewLine: () => '\n',
};
