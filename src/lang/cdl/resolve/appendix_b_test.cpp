#include <gtest/gtest.h>
#include <libxml/c14n.h>
#include <libxml/parser.h>

#include "lang/cdl/resolve/system.h"

namespace tutti::cdl {
namespace {

// Canonical XML of a document without the white space between its elements.
std::string canonical(const std::string& text) {
  xmlDoc* doc = xmlReadMemory(text.data(), static_cast<int>(text.size()), nullptr, nullptr, XML_PARSE_NOBLANKS);
  if (!doc) return "not XML";
  xmlChar* out = nullptr;
  int size = xmlC14NDocDumpMemory(doc, nullptr, XML_C14N_1_0, nullptr, 0, &out);
  std::string result(reinterpret_cast<const char*>(out), static_cast<std::size_t>(size));
  xmlFree(out);
  xmlFreeDoc(doc);
  return result;
}

// The result that appendix B of the specification gives, character for character once both are canonical.
TEST(CdlAppendixB, ResolvesAsTheSpecificationPrints) {
  Session session;
  std::unique_ptr<System> system = System::load(session, TUTTI_SOURCE_DIR "/examples/cdl/web.cdl", {});
  ASSERT_TRUE(system && session.diagnostics.ok());
  const std::string expected = R"(
<cdl:system xmlns="http://example.org/webapp-deploy" xmlns:c="http://cddlm.org/component-model-example"
 xmlns:cdl="http://www.gridforum.org/2004/12/CDDLM/XML-CDL/1.0" xmlns:t="http://example.org/webapp-template"
 xmlns:xsd="http://www.w3.org/2001/XMLSchema">
<WebApplication>
  <c:ClassName cdl:type="c:classNameType">Compound</c:ClassName>
  <c:ComponentId cdl:lazy="true" cdl:type="c:componentIdType"/>
  <c:deploy cdl:type="c:policyType">Sequential</c:deploy>
  <c:undeploy cdl:type="c:policyType">ReverseSequential</c:undeploy>
  <c:start cdl:type="c:policyType">Sequential</c:start>
  <c:stop cdl:type="c:policyType">ReverseSequential</c:stop>
  <t:application>http://repository.org/test.war</t:application>
  <t:applicationPath>/test</t:applicationPath>
  <t:dbname>jdbc/Test</t:dbname>
  <t:data>http://repository.org/db.zip</t:data>
  <t:dbuser>myapp</t:dbuser>
  <t:dbpassword>pass</t:dbpassword>
  <t:DB>
    <c:ClassName cdl:type="c:classNameType">DBServer</c:ClassName>
    <c:ComponentId cdl:lazy="true" cdl:type="c:componentIdType"/>
    <t:data cdl:type="xsd:anyURI">http://repository.org/db.zip</t:data>
    <t:hostname cdl:lazy="true"/>
    <t:port>3306</t:port>
    <t:username>myapp</t:username>
    <t:password>pass</t:password>
  </t:DB>
  <t:Web>
    <c:ClassName cdl:type="c:classNameType">WebServer</c:ClassName>
    <c:ComponentId cdl:lazy="true" cdl:type="c:componentIdType"/>
    <t:application cdl:type="xsd:anyURI">http://repository.org/test.war</t:application>
    <t:applicationPath cdl:type="xsd:string">/test</t:applicationPath>
    <t:hostname cdl:lazy="true"/>
    <t:port>8080</t:port>
    <t:dbconnection>
      <t:JNDIName>jdbc/Test</t:JNDIName>
      <t:hostname cdl:ref="../../t:DB/t:hostname"/>
      <t:port>3306</t:port>
      <t:username>myapp</t:username>
      <t:password>pass</t:password>
    </t:dbconnection>
  </t:Web>
</WebApplication>
</cdl:system>)";
  EXPECT_EQ(canonical(to_xml(*system, false, false)), canonical(expected.substr(1)));
  EXPECT_EQ(canonical(to_xml(*system, true, false)), canonical(expected.substr(1)));

  ASSERT_TRUE(system->set("WebApplication/DB/hostname", "db1"));
  EXPECT_EQ(system->resolve(), 1u);
  std::string after = canonical(expected.substr(1));
  for (auto [from, to] :
       {std::pair("<t:hostname cdl:lazy=\"true\"></t:hostname><t:port>3306",
                  "<t:hostname>db1</t:hostname><t:port>3306"),
        std::pair("<t:hostname cdl:ref=\"../../t:DB/t:hostname\"></t:hostname>", "<t:hostname>db1</t:hostname>")}) {
    std::size_t at = after.find(from);
    ASSERT_NE(at, std::string::npos);
    after.replace(at, std::string_view(from).size(), to);
  }
  EXPECT_EQ(canonical(to_xml(*system, false, false)), after);
}

}  // namespace
}  // namespace tutti::cdl
