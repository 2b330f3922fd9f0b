import { MISSING } from './missingNote.mjs';
import { modelsFolder } from './models.mjs';

/** Vitest reporter: says at the end of a run how many tests were left out because there are no files for them. */
export default class MissingModels {
  onInit(vitest) {
    this.vitest = vitest;
  }

  onTestRunEnd(modules) {
    // Tests that `-t` leaves out are skipped too, but not for want of a model.
    const pattern = this.vitest.config.testNamePattern;
    const names = modules
      .flatMap((module) => [...module.children.allTests('skipped')])
      .map(({ fullName }) => fullName)
      .filter((name) => name.includes(MISSING) && (pattern?.test(name.replaceAll(' > ', ' ')) ?? true));
    if (names.length === 0) return;
    const models = new Set(names.flatMap((name) => name.match(/\S+\.glb/) ?? []));
    console.log(
      `\n${names.length} tests were skipped: there is no ${[...models].sort().join(', ')} in ${modelsFolder()}; set SIM_MODELS to a folder that has them.`,
    );
  }
}
