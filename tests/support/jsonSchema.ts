/** As much of JSON Schema as the schemas in the guides use. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  anyOf?: Schema[];
}

/** What does not fit a schema, each with its place; and keys that the schema does not name. */
export function schemaErrors(value: unknown, schema: Schema, root = schema, place = '$'): string[] {
  if (schema.$ref !== undefined) {
    const inner = root.$defs?.[schema.$ref.replace('#/$defs/', '')];
    return inner ? schemaErrors(value, inner, root, place) : [`${place}: no ${schema.$ref}`];
  }
  const wrong = (what: string) => [`${place}: ${JSON.stringify(value)?.slice(0, 80)} is not ${what}`];
  if ('const' in schema && value !== schema.const) return wrong(`${schema.const}`);
  if (schema.enum && !schema.enum.includes(value)) return wrong(schema.enum.join(' or '));
  if (schema.anyOf?.every((one) => schemaErrors(value, one, root, place).length > 0)) {
    return wrong('any of what it may be');
  }
  if (schema.type !== undefined && !isOf(value, schema.type)) return wrong(schema.type);
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema;
    return value >= minimum && value <= maximum ? [] : wrong(`from ${minimum} to ${maximum}`);
  }
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return wrong(`of ${schema.minItems} at least`);
    return value.flatMap((one, i) => schemaErrors(one, schema.items ?? {}, root, `${place}[${i}]`));
  }
  if (typeof value !== 'object' || value === null) return [];
  const { required = [], anyOf, properties, additionalProperties } = schema;
  if (anyOf?.every((one) => schemaErrors(value, one, root, place).length > 0))
    return wrong('any of what it may be');
  const missing = required.filter((key) => !(key in value)).map((key) => `${place}.${key} is missing`);
  const inner = Object.entries(value).flatMap(([key, one]) => {
    const own = properties?.[key] ?? additionalProperties;
    if (own !== undefined) return schemaErrors(one, own, root, `${place}.${key}`);
    return properties === undefined ? [] : [`${place}.${key} is not in the schema`];
  });
  return [...missing, ...inner];
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  const kind: string = typeof value;
  return kind === type;
}
