// Says what failed in a command that was run by `.ci/run`, for the end of its output, where it is seen.
//
//   node .ci/failures.mjs COMMAND STATUS LOG [RESULTS]
//
// COMMAND is how it is named, STATUS what it ended with, LOG a file with all that it printed, RESULTS the JSON that Vitest
// (or `npm run test:engines`) wrote of its tests. Prints nothing where nothing failed.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** Lines of an error that are shown: what was expected, and where in the tests. */
const ERROR_LINES = 6;
/** Lines of the output that are shown of a command that failed without telling which test did. */
const LOG_LINES = 20;
const LINE_LENGTH = 300;

/** The first lines of a text, but for empty ones. */
function firstLines(text, count) {
  return stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(0, count)
    .map((line) => `    ${line.slice(0, LINE_LENGTH)}`);
}

/** Where errors are told that belong to no test, else the end. */
function tellingLines(log) {
  const lines = stripVTControlCharacters(log)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const unhandled = lines.findIndex((line) => /Unhandled (Error|Rejection)/.test(line));
  const from = unhandled >= 0 ? unhandled : Math.max(0, lines.length - LOG_LINES);
  return firstLines(lines.slice(from).join('\n'), LOG_LINES);
}

/** What an error says, without the part of its stack that is the same for all tests. */
const errorLines = (error) =>
  firstLines(error.replace(/^ +at .*node_modules.*$|^ +at new Promise.*$/gm, ''), ERROR_LINES);

/** Tests that failed, and files that could not be run at all. */
function failedTests(command, { testResults = [] }) {
  return testResults.flatMap(({ name, status, message = '', assertionResults = [] }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (failed.length === 0 && status === 'failed')
      return [`${command}: ${file} as a whole`, ...errorLines(message)];
    return failed.flatMap(({ ancestorTitles = [], title, failureMessages = [] }) => [
      `${command}: ${[file, ...ancestorTitles, title].join(' > ')}`,
      ...failureMessages.flatMap(errorLines),
    ]);
  });
}

/**
 * Lines that say what failed.
 *
 * @param {string} command
 * @param {number} status
 * @param {string} log
 * @param {string | null} results JSON, or null where there is none.
 * @returns {string[]}
 */
export function failuresOf(command, status, log, results) {
  const tests = results === null ? [] : failedTests(command, JSON.parse(results));
  if (tests.length > 0 || status === 0) return tests;
  return [`${command}: failed as a whole (status ${status})`, ...tellingLines(log)];
}

const read = (file) => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [command, status, log, results] = process.argv.slice(2);
  for (const line of failuresOf(command, Number(status), read(log) ?? '', results ? read(results) : null)) {
    console.log(line);
  }
}
