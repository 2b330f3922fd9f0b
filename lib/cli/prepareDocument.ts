import type { Accessor, Animation, Document } from '@gltf-transform/core';
import { DRACO } from './gltfIO.js';

/** Makes all of a document lie in one buffer, which a .glb asks for. */
export function mergeBuffers(document: Document): void {
  const root = document.getRoot();
  const [first = document.createBuffer(), ...others] = root.listBuffers();
  first.setURI('');
  for (const accessor of root.listAccessors()) accessor.setBuffer(first);
  for (const buffer of others) buffer.dispose();
}

/** Has a document written without Draco, whose encoder is not here. @returns Whether it was packed by it. */
export function unpackDraco(document: Document): boolean {
  const draco = extensionNamed(document, DRACO);
  draco?.dispose();
  return draco !== undefined;
}

/** Removes the source's own clips, and the keys that nothing else uses. */
export function removeAnimations(document: Document): void {
  for (const animation of document.getRoot().listAnimations()) {
    const accessors = keysOf(animation);
    for (const channel of animation.listChannels()) channel.dispose();
    for (const sampler of animation.listSamplers()) sampler.dispose();
    animation.dispose();
    disposeUnused(accessors);
  }
}

function extensionNamed(document: Document, name: string) {
  return document
    .getRoot()
    .listExtensionsUsed()
    .find(({ extensionName }) => extensionName === name);
}

function keysOf(animation: Animation): Accessor[] {
  return animation
    .listSamplers()
    .flatMap((sampler) => [sampler.getInput(), sampler.getOutput()])
    .filter((accessor) => accessor !== null);
}

/** Disposes accessors that only the list of all accessors still knows. */
function disposeUnused(accessors: readonly Accessor[]): void {
  for (const accessor of new Set(accessors)) {
    const isUsed = accessor.listParents().some(({ propertyType }) => propertyType !== 'Root');
    if (!isUsed && !accessor.isDisposed()) accessor.dispose();
  }
}
