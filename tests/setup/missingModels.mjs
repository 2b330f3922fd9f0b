import { MISSING } from './missingNote.mjs';
import { modelsFolder } from './models.mjs';

/** What is said of a test that has no note. */
const ELSEWHERE = 'they run with --all, or with another renderer or file';

/** Vitest reporter: says at the end of a run why tests were left out, and which files would be needed. */
export default class MissingModels {
  onInit(vitest) {
    this.vitest = vitest;
  }

  onTestRunEnd(modules) {
    // Tests that `-t` leaves out are skipped too, but not for a reason of their own.
    const pattern = this.vitest.config.testNamePattern;
    const models = new Set();
    const counts = new Map();
    for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
      const { fullName } = test;
      if (pattern?.test(fullName.replaceAll(' > ', ' ')) === false) continue;
      const isMissing = fullName.includes(MISSING);
      for (const model of isMissing ? (fullName.match(/\S+\.glb/) ?? []) : []) models.add(model);
      const why = isMissing ? MISSING : (test.result().note ?? ELSEWHERE);
      counts.set(why, (counts.get(why) ?? 0) + 1);
    }
    for (const [why, count] of counts) {
      const said =
        why === MISSING
          ? `there is no ${[...models].sort().join(', ')} in ${modelsFolder()}; set SIM_MODELS to a folder that has them`
          : why;
      console.log(`\n${count} tests were skipped: ${said}.`);
    }
  }
}
