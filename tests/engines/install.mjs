import { existsSync } from 'node:fs';
import { apt } from '../setup/apt.mjs';

/**
 * Installs what engines lack, on Debian as root; says so where it cannot.
 *
 * @param {import('./engines.mjs').Engine[]} engines
 */
export function install(engines) {
  const lacking = engines.filter((engine) => engine.missing().length > 0);
  if (lacking.length === 0) return;
  if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
    console.log('What is missing is not installed: that takes Debian, or a system like it, and root.');
    return;
  }
  if (!apt('update', '-qq')) return;
  // Each by itself, so that one that this system does not know stands in no other's way.
  for (const { name, packages, missing } of lacking) {
    // It may have come with the one before.
    if (missing().length === 0) continue;
    console.log(`Installing ${packages.join(', ')} for ${name}.`);
    apt('install', '-y', '-qq', '--no-install-recommends', '--no-upgrade', ...packages);
  }
}
