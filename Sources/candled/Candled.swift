@main
struct Candled {
  static func main() {}
}
