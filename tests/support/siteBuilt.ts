import { inject } from 'vitest';
import type { Site } from '../setup/site.js';

/** The site, which is built when it is first asked for. */
export async function siteBuilt(): Promise<Site> {
  const response = await fetch(inject('site'));
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
