import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import GLSLDecoder from 'three/addons/transpiler/GLSLDecoder.js';

const ASSIGNS = {
  '=': '',
  '+=': 'add',
  '-=': 'sub',
  '*=': 'mul',
  '/=': 'div',
  '&=': 'bitAnd',
  '|=': 'bitOr',
};
const OPERATORS = {
  '+': 'add',
  '-': 'sub',
  '*': 'mul',
  '/': 'div',
  '%': 'mod',
  '<': 'lessThan',
  '>': 'greaterThan',
  '<=': 'lessThanEqual',
  '>=': 'greaterThanEqual',
  '==': 'equal',
  '!=': 'notEqual',
  '&&': 'and',
  '||': 'or',
  '&': 'bitAnd',
  '|': 'bitOr',
  '^': 'bitXor',
  '<<': 'shiftLeft',
  '>>': 'shiftRight',
};
const UNARY = { '!': 'not', '-': 'negate' };
const twinOf = (operators, { type }) => {
  if (operators[type] === undefined) throw new Error(`shaderNodes: no twin of "${type}".`);
  return operators[type];
};
const TYPES = /^(float|int|uint|bool|[iu]?vec[234])$/;
/** Functions that TSL has by the same names. */
const BUILT_IN = new Set(
  (
    'abs atan clamp cos cross dFdx dFdy dot floor fract length log2 max min mix normalize sign sin sqrt step ' +
    'uintBitsToFloat unpackSnorm2x16'
  ).split(' '),
);
/** What reads textures by the functions of `tsl.ts`. */
const SAMPLED = { textureLod: 'sampleLevel', textureSize: 'sizeOf' };

/**
 * Nodes that do what functions in GLSL do: a module whose default export takes what the functions need, by name, and returns them, by
 * name. Functions of numbers and vectors are functions of the shader too. Those without parameters, of structs, or that change parameters
 * or globals, build on the current stack where they are called; `mat3x4` is an array of three vectors.
 *
 * The texts keep to what has a twin: no array, no matrix but `mat3x4`, no `switch`; what builds on the stack returns at its end only; a
 * `for` counts up to less than something, with other steps after it, and one in it has no `continue`. A texture is read by `texelFetch`,
 * which is `texel` of what is given for it, or by `textureLod`; `mat3x4( 0.0 )` is the only one of a number. An `if` of but a name that
 * the text needs is one of JavaScript. What writes to what the text needs is `void`. What a text neither declares nor GLSL has, it needs. What no other function calls is returned.
 *
 * @param {string} text GLSL.
 * @returns {string}
 * @throws {Error} If the text has what has no twin.
 */
export function nodesOf(text) {
  const decoder = new GLSLDecoder();
  // Structs that another text declares.
  for (const [, type] of text.matchAll(/\b([A-Z]\w*[a-z]\w*) \w+ =/g))
    decoder.structTypes.set(type, { members: [] });
  return new Encoder(decoder.parse(text)).module();
}

/** What a number is in JavaScript, or one by another; null for other expressions. */
function numberOf(node) {
  if (node?.isNumber) return `${Number(node.value)}`;
  if (node?.isUnary && node.type === '-' && node.expression.isNumber) return `-${numberOf(node.expression)}`;
  const isRatio =
    node?.type === '/' && node.left.isNumber && node.right.isNumber && node.left.type === 'float';
  return isRatio ? `${numberOf(node.left)} / ${numberOf(node.right)}` : null;
}

const typeOfNumber = (node) => (node.isNumber ? node.type : typeOfNumber(node.expression ?? node.left));

/** The statements in a body, and in what it has in it. */
function statementsIn(body) {
  return body.flatMap((one) => [
    one,
    ...statementsIn(one.body ?? []),
    ...statementsIn(one.initialization ? [one.initialization] : []),
    ...statementsIn(one.elseConditional ? [one.elseConditional] : []),
    ...statementsIn(one.isVariableDeclaration && one.next ? [one.next] : []),
    ...statementsIn(one.isFor ? listOf(one.afterthought) : []),
  ]);
}

const mayReturn = (node) => statementsIn([node]).some((one) => one.isReturn);

/** The variable that an expression is, or is a part of. */
const variableOf = (node) => (node?.object ?? node)?.property?.split('.')[0];

/** The variable that an assignment writes to. */
const targetOf = (node) => variableOf(node.left ?? node.expression);

/** What commas part. */
const listOf = (node) =>
  node?.type === ',' ? [...listOf(node.left), ...listOf(node.right)] : node ? [node] : [];

class Encoder {
  imports = new Set();
  helpers = new Set();
  needs = new Set();
  called = new Set();

  constructor({ body, structTypes }) {
    this.structs = structTypes;
    this.globals = body.filter((one) => one.isVariableDeclaration);
    /** Types of what has a name where the text is. */
    this.types = new Map();
    this.functions = new Map();
    for (const one of body) if (one.isFunctionDeclaration) this.functions.set(one.name, one);
  }

  module() {
    const globals = this.globals.map(
      ({ type, name }) => `const ${name} = ${this.tsl('property')}('${type}', '${name}');`,
    );
    const functions = [...this.functions.values()].map((one) => this.functionOf(one));
    const needs = this.needs.size > 0 ? `{ ${[...this.needs].join(', ')} }` : '';
    const module = [
      `import { ${[...this.imports].join(', ')} } from 'three/tsl';`,
      this.helpers.size > 0 ? `import { ${[...this.helpers].join(', ')} } from './tsl.js';` : '',
      `const make = (${needs}) => {`,
      ...globals,
      ...functions,
      `return { ${[...this.functions.keys()].filter((name) => !this.called.has(name)).join(', ')} };`,
      '};',
      // A shader has each function once.
      needs === '' ? 'let made;\nexport default () => (made ??= make());' : 'export default make;',
    ];
    return module.join('\n');
  }

  tsl(name) {
    this.imports.add(name);
    return name;
  }

  helper(name) {
    this.helpers.add(name);
    return name;
  }

  /** Whether a function is code of its own nowhere in the shader. */
  isInline(node) {
    const { type, params, body } = node;
    return (
      params.length === 0 ||
      this.globals.some(({ name }) => this.isChanged(name, body)) ||
      this.isPlain(node) ||
      [type, ...params.map((one) => one.qualifier ?? one.type)].some((one) => !TYPES.test(one))
    );
  }

  /** Whether a function is an expression that reads each parameter once at most. */
  isPlain({ params, body: [first] }) {
    return first?.isReturn && params.every((one) => this.timesOf(first.value, one.name) < 2);
  }

  /** How many times a variable is read in an expression. */
  timesOf(node, name) {
    if (node === null || typeof node !== 'object') return 0;
    if (node.isAccessor) return variableOf(node) === name ? 1 : 0;
    const parts = Array.isArray(node)
      ? [[null, node]]
      : Object.entries(node).filter(([key]) => key !== 'parent' && key !== 'linker');
    return parts.flatMap(([, part]) => part).reduce((sum, part) => sum + this.timesOf(part, name), 0);
  }

  functionOf(node) {
    const { type, name, params } = node;
    const declared = statementsIn(node.body).filter((one) => one.isVariableDeclaration);
    this.types = new Map([...this.globals, ...params, ...declared].map((one) => [one.name, one.type]));
    this.body = node.body;
    // What a function changes of its own are copies.
    const changed = params.filter((one) => one.qualifier === null && this.isChanged(one.name));
    const names = params.map((one) => (changed.includes(one) ? `${one.name}_` : one.name)).join(', ');
    const copies = changed.map((one) => `const ${one.name} = ${this.variable(one.type, `${one.name}_`)};`);
    const body = [...copies, this.statements(node.body)].join('\n');
    const isInline = this.isInline(node);
    const written = statementsIn(node.body).find(
      (one) => one.isOperator && one.isAssignment && !this.types.has(targetOf(one)),
    );
    if (!isInline && written)
      throw new Error(`shaderNodes: "${name}" writes to "${targetOf(written)}", so it must be void.`);
    if (isInline && mayReturn({ body: node.body.slice(0, -1) }))
      throw new Error(
        `shaderNodes: "${name}" returns before its end, but is no function of numbers and vectors.`,
      );
    if (isInline) return `const ${name} = (${names}) => {\n${body}\n};`;
    const head = [type, name, ...params.map((one) => one.type)].join(' ');
    return `const ${name} = ${this.helper('functionOf')}('${head}', (${names}) => {\n${body}\n});`;
  }

  /** Whether a function writes to a variable, or to a part of it. */
  isChanged(name, body = this.body) {
    return statementsIn(body).some((one) => {
      if (one.isAssignment) return targetOf(one) === name;
      const params = (one.isFunctionCall && this.functions.get(one.name)?.params) || [];
      return params.some(({ qualifier }, i) => qualifier !== null && variableOf(one.params[i]) === name);
    });
  }

  statements(list) {
    return list
      .filter((one) => !one.isComment)
      .map((one) => this.statement(one))
      .join('\n');
  }

  block(body) {
    return `() => {\n${this.statements(body)}\n}`;
  }

  statement(node) {
    if (node.isVariableDeclaration) return this.declaration(node);
    if (node.isReturn) return `return ${this.value(node.value)};`;
    if (node.isConditional) return this.conditional(node);
    if (node.isFor) return this.loop(node);
    if (node.isBreak) return `${this.tsl('Break')}();`;
    if (node.isContinue) return `${this.statements(this.steps)}\n${this.tsl('Continue')}();`;
    if (node.isUnary && node.type === '++') return `${this.value(node.expression)}.addAssign(1);`;
    if (node.isOperator && node.isAssignment) {
      const type = this.typeOf(node.left);
      const target = this.value(node.left);
      if (node.type === '=') return this.assign(target, type, node.right);
      return `${target}.${twinOf(ASSIGNS, node)}Assign(${this.operand(node.right)});`;
    }
    if (node.isFunctionCall) return `${this.value(node)};`;
    throw new Error(`shaderNodes: no twin of a statement "${node.constructor.name}".`);
  }

  declaration({ type, name, value, next }) {
    const code = `const ${name} = ${value ? this.variable(type, this.value(value)) : this.zeros(type)};`;
    return next ? `${code}\n${this.declaration(next)}` : code;
  }

  variable(type, value) {
    if (value === 'zeroRows()') return value;
    return TYPES.test(type) ? `${value}.toVar()` : `${this.helper('variablesOf')}(${value})`;
  }

  zeros(type) {
    if (type === 'bool') return `${this.tsl('bool')}(false).toVar()`;
    if (TYPES.test(type)) return `${this.tsl(type)}(0).toVar()`;
    if (type === 'mat3x4') return `[${[0, 1, 2].map(() => this.zeros('vec4')).join(', ')}]`;
    const { members } = this.structs.get(type);
    return `{ ${members.map((one) => `${one.name}: ${this.zeros(one.type)}`).join(', ')} }`;
  }

  assign(target, type, value) {
    const code = this.value(value);
    if (type === null || TYPES.test(type)) return `${target}.assign(${code});`;
    return `${this.helper('assignAll')}(${target}, ${code});`;
  }

  conditional({ cond, body, elseConditional }) {
    // What is but a name that the text needs is known when nodes are made.
    if (cond.isAccessor && !this.types.has(variableOf(cond))) {
      const no = elseConditional ? ` else {\n${this.statements(elseConditional.body)}\n}` : '';
      return `if (${this.name(cond.property)}) {\n${this.statements(body)}\n}${no}`;
    }
    const yes = `${this.tsl('If')}(${this.value(cond)}, ${this.block(body)})`;
    if (!elseConditional) return `${yes};`;
    const isNext = elseConditional.cond !== null;
    return `${yes}.Else(${this.block(isNext ? [{ ...elseConditional, isConditional: true }] : elseConditional.body)});`;
  }

  loop({ initialization, condition, afterthought, body }) {
    const [first, ...steps] = listOf(afterthought);
    // What is done before the next time.
    this.steps = initialization ? steps : [...steps, first];
    const block = [...body, ...this.steps];
    if (!initialization) return `${this.tsl('Loop')}(${this.value(condition)}, ${this.block(block)});`;
    const { name, type, value } = initialization;
    if (condition.type !== '<' || first.type !== '++' || type !== 'int')
      throw new Error('shaderNodes: a "for" counts up to less than something, in whole numbers.');
    const [start, end] = [value, condition.right].map((one) => this.operand(one));
    const isPlain = start === '0' && name === 'i';
    const counts = isPlain ? end : `{ start: ${start}, end: ${end}, name: '${name}' }`;
    return `${this.tsl('Loop')}(${counts}, ({ ${name} }) => {\n${this.statements(block)}\n});`;
  }

  /** As `value`; numbers are those of JavaScript. */
  operand(node) {
    const number = numberOf(node);
    return number === null || typeOfNumber(node) === 'uint' ? this.value(node) : number;
  }

  /** The same where a number is one with a point. */
  argument(node) {
    const number = numberOf(node);
    return number === null || typeOfNumber(node) !== 'float' ? this.value(node) : number;
  }

  value(node) {
    const number = numberOf(node);
    if (number !== null) return `${this.tsl(typeOfNumber(node))}(${number})`;
    if (node.isAccessor) return this.name(node.property);
    if (node.isTernary)
      return `${this.tsl('select')}(${[node.cond, node.left, node.right].map((one) => this.argument(one)).join(', ')})`;
    if (node.isUnary) return `${this.value(node.expression)}.${twinOf(UNARY, node)}()`;
    if (node.isOperator) {
      if (node.type === '-' && numberOf(node.left) === '1') return `${this.value(node.right)}.oneMinus()`;
      const isVector = /^[=!]=$/.test(node.type) && /vec/.test(this.typeOf(node.left));
      const isTurned = /^[+*]$/.test(node.type) && numberOf(node.left) !== null;
      const [left, right] = isTurned ? [node.right, node.left] : [node.left, node.right];
      const code = `${this.value(left)}.${twinOf(OPERATORS, node)}(${this.operand(right)})`;
      return isVector ? `${code}.${node.type === '==' ? 'all' : 'any'}()` : code;
    }
    if (node.isAccessorElements) return this.elements(node);
    if (node.isFunctionCall) return this.call(node);
    throw new Error(`shaderNodes: no twin of "${node.constructor.name}".`);
  }

  name(name) {
    if (/^(true|false)$/.test(name)) return `${this.tsl('bool')}(${name})`;
    const [variable] = name.split('.');
    if (!this.types.has(variable)) this.needs.add(variable);
    return name;
  }

  elements({ object, elements }) {
    let type = this.typeOf(object);
    let code = this.value(object);
    for (const { value, isStaticElement } of elements) {
      const at = isStaticElement ? null : numberOf(value);
      if (isStaticElement) code += `.${value.property}`;
      else if (at === null) code += `${object.isAccessor ? '' : '.toVar()'}.element(${this.value(value)})`;
      else code += type === 'mat3x4' ? `[${at}]` : `.${'xyzw'[at]}`;
      type = this.typeOfElement(type, isStaticElement ? value.property : '');
    }
    return code;
  }

  call({ name, params }) {
    if (name === 'texelFetch') return `${this.value(params[0])}.texel(${this.value(params[1])})`;
    if (name === 'mat3x4') return this.rows(params);
    const struct = this.structs.get(name);
    if (struct)
      return `{ ${struct.members.map((one, i) => `${one.name}: ${this.value(params[i])}`).join(', ')} }`;
    if (TYPES.test(name)) return `${this.tsl(name)}(${params.map((one) => this.operand(one)).join(', ')})`;
    if (SAMPLED[name])
      return `${this.helper(SAMPLED[name])}(${params.map((one) => this.value(one)).join(', ')})`;
    if (BUILT_IN.has(name)) {
      const args = params.map((one, i) => (i > 0 ? this.argument(one) : this.value(one)));
      return `${this.tsl(name)}(${args.join(', ')})`;
    }
    const declared = this.functions.get(name);
    if (declared) this.called.add(name);
    else this.needs.add(name);
    const copies = declared && this.isInline(declared) && !this.isPlain(declared);
    const args = params.map((one, i) => {
      const isRead =
        variableOf(one) !== undefined || numberOf(one) !== null || !TYPES.test(declared?.params[i].type);
      return copies && !isRead ? `${this.value(one)}.toVar()` : this.value(one);
    });
    return `${name}(${args.join(', ')})`;
  }

  rows(params) {
    if (params.length === 1) return `${this.helper('zeroRows')}()`;
    const values = params.map((one) => this.value(one));
    const vec4 = params.length === 3 ? '' : this.tsl('vec4');
    const row = (i) => `${vec4}(${values.slice(i * 4, i * 4 + 4).join(', ')})`;
    return `[${[0, 1, 2].map((i) => (vec4 === '' ? values[i] : row(i))).join(', ')}]`;
  }

  typeOfElement(type, name) {
    if (type === 'mat3x4') return 'vec4';
    if (type === null || type === undefined) return null;
    const member = this.structs.get(type)?.members.find((one) => one.name === name);
    if (member) return member.type;
    const [, kind, size] = /^([iu]?)vec([234])$/.exec(type) ?? [];
    if (size === undefined) return null;
    if (name.length > 1) return `${kind}vec${name.length}`;
    return { '': 'float', i: 'int', u: 'uint' }[kind];
  }

  typeOf(node) {
    if (numberOf(node) !== null) return typeOfNumber(node);
    if (node.isAccessor) {
      const [variable, ...names] = node.property.split('.');
      return names.reduce((type, name) => this.typeOfElement(type, name), this.types.get(variable) ?? null);
    }
    if (node.isTernary) return this.typeOf(node.left);
    if (node.isUnary) return this.typeOf(node.expression);
    if (node.isAccessorElements)
      return node.elements.reduce(
        (type, { value, isStaticElement }) => this.typeOfElement(type, isStaticElement ? value.property : ''),
        this.typeOf(node.object),
      );
    if (node.isOperator) {
      if (/^([=!<>]=|[<>]|&&|\|\|)$/.test(node.type)) return 'bool';
      const [left, right] = [this.typeOf(node.left), this.typeOf(node.right)];
      return /vec/.test(right) ? right : left;
    }
    if (!node.isFunctionCall) return null;
    if (TYPES.test(node.name) || node.name === 'mat3x4' || this.structs.has(node.name)) return node.name;
    if (/^(dot|length)$/.test(node.name)) return 'float';
    if (node.name === 'texelFetch') return 'vec4';
    if (BUILT_IN.has(node.name)) return this.typeOf(node.params[0]);
    return this.functions.get(node.name)?.type ?? null;
  }
}

/** A text that a module exports. */
export async function textOf(path, name) {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    packages: 'external',
    write: false,
    logLevel: 'error',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`))[name];
}

/** A module and the name of its text, which are asked for together. */
const ASKED = /^(.*\.ts)\?nodes=(\w+)$/;

/** Vite plugin: the default export of `./file.glsl.js?nodes=textGLSL` is what `nodesOf` makes of a text that the module exports. */
export function shaderNodes() {
  return {
    name: 'shader-nodes',
    enforce: 'pre',
    async load(id) {
      const [, path, name] = ASKED.exec(id) ?? [];
      if (path === undefined) return null;
      this.addWatchFile(path);
      return nodesOf(await textOf(path, name));
    },
  };
}

/** The same for esbuild. */
export const esbuildNodes = {
  name: 'shader-nodes',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\?nodes=/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace('.js?', '.ts?')),
      namespace: 'nodes',
    }));
    onLoad({ filter: /./, namespace: 'nodes' }, async ({ path }) => {
      const [, file, name] = ASKED.exec(path);
      return { contents: nodesOf(await textOf(file, name)), resolveDir: dirname(file) };
    });
  },
};
