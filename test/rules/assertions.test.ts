/**
 * Assertions of the tests are as strict as they look: in a pattern of `t.match`, an empty list matches any
 * list.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { packagePath } from '../../shared/platform/paths.ts'

const folder = packagePath('test')

/** The places where the pattern of `t.match` or `t.has` contains `[]`. */
function emptyListsIn(source: ts.SourceFile): number[] {
  const lines: number[] = []
  const lineOf = (node: ts.Node): number => 1 + source.getLineAndCharacterOfPosition(node.getStart()).line
  const findIn = (pattern: ts.Node): void => {
    // Arguments of functions that are called inside a pattern are not part of it.
    if (ts.isCallExpression(pattern) || ts.isArrowFunction(pattern)) return
    if (ts.isArrayLiteralExpression(pattern) && pattern.elements.length === 0) lines.push(lineOf(pattern))
    ts.forEachChild(pattern, findIn)
  }
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.expression.getText() === 't' &&
      ['match', 'has'].includes(node.expression.name.text) &&
      node.arguments[1]
    )
      findIn(node.arguments[1])
    ts.forEachChild(node, visit)
  }
  visit(source)
  return lines
}

t.test('no pattern of t.match or t.has has an empty list: { length: 0 } is matched by nothing else', (t) => {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) =>
      emptyListsIn(
        ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.Latest, true)
      ).map((line) => `${relative(packagePath('.'), join(folder, path))}:${line}`)
    )
  t.strictSame(found, [])
  t.strictSame(
    emptyListsIn(
      ts.createSourceFile('a.ts', 't.match(a, {\n  b: [],\n  c: f([]) })', ts.ScriptTarget.Latest, true)
    ),
    [2]
  )
  t.end()
})
