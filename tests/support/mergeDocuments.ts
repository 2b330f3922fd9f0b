import { type Document, type Extension, type Property, PropertyType } from '@gltf-transform/core';

type PropertyClass = new (graph: ReturnType<Document['getGraph']>) => Property;

/**
 * What `mergeDocuments` of @gltf-transform/functions 4.5 does, which would bring an image library along: copies all but the root
 * of one document into another.
 */
export function mergeDocuments(target: Document, source: Document): (property: Property) => Property {
  const copies = new Map<Property, Property>([[source.getRoot(), target.getRoot()]]);
  const resolve = (property: Property): Property => {
    if (property.propertyType === PropertyType.TEXTURE_INFO) return property;
    const copy = copies.get(property) ?? new (property.constructor as PropertyClass)(target.getGraph());
    copies.set(property, copy);
    return copy;
  };
  for (const extension of source.getRoot().listExtensionsUsed()) {
    target.createExtension(extension.constructor as new (document: Document) => Extension);
  }
  const properties = new Set(
    source
      .getGraph()
      .listEdges()
      .map((edge) => edge.getChild()),
  );
  const all = [...properties].filter(({ propertyType }) => propertyType !== PropertyType.TEXTURE_INFO);
  for (const property of all) resolve(property);
  for (const property of all) resolve(property).copy(property, resolve);
  return resolve;
}
